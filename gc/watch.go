package gc

import (
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// maxWatched is how many sessions' policies are watched at most.
const maxWatched = 1000

// quiet is for how long a policy must be left alone before its session is swept: an editor writes
// in several steps.
const quiet = 50 * time.Millisecond

// Watch watches the policies of sessions in use, so that a change takes effect at once. Nothing
// depends on it: a round sees the change by itself.
type Watch struct {
	c     *Collector
	notes *fsnotify.Watcher
	done  chan struct{} // closed when the loop has ended

	mu   sync.Mutex
	dirs map[string]ctxabi.Ref // absolute directories; guarded by mu
}

// Watch returns a watch, which runs until [Watch.Close]. Where the system allows no watching it
// returns nil, which can be used.
func (c *Collector) Watch() *Watch {
	notes, err := fsnotify.NewWatcher()
	if err != nil {
		c.o.Logger.Info("changes of gc.policy are seen by the next round only", "err", err)
		return nil
	}
	w := &Watch{c: c, notes: notes, done: make(chan struct{}), dirs: map[string]ctxabi.Ref{}}
	go w.loop()
	return w
}

// Close ends the watch and waits for it.
func (w *Watch) Close() {
	if w != nil {
		w.notes.Close()
		<-w.done
	}
}

// Use watches the policy of the session ref, whose directory is dir, unless too many are watched
// already.
func (w *Watch) Use(ref ctxabi.Ref, dir string) {
	if w == nil {
		return
	}
	dir = filepath.Join(dir, path.Dir(ctxabi.PolicyFile))
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.dirs[dir]; known || len(w.dirs) >= maxWatched {
		return
	}
	if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() {
		return
	}
	if err := w.notes.Add(dir); err == nil {
		w.dirs[dir] = ref
	}
}

func (w *Watch) loop() {
	defer close(w.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	changed := map[ctxabi.Ref]bool{}
	for {
		select {
		case err, ok := <-w.notes.Errors:
			if !ok {
				return
			}
			w.c.o.Logger.Debug("watching policies", slog.Any("err", err))
		case e, ok := <-w.notes.Events:
			if !ok {
				return
			}
			w.mu.Lock()
			if e.Has(fsnotify.Remove | fsnotify.Rename) {
				delete(w.dirs, e.Name) // it can be watched again
			}
			ref, ours := w.dirs[path.Dir(e.Name)]
			w.mu.Unlock()
			if ours && path.Base(e.Name) == path.Base(ctxabi.PolicyFile) {
				changed[ref] = true
				timer.Reset(quiet)
			}
		case <-timer.C:
			for ref := range changed {
				w.c.Changed(ref)
			}
			clear(changed)
		}
	}
}
