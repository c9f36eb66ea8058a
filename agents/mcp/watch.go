package mcp

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// settle is how long changes are collected before they are told, so that a
// burst of appends is one notice.
const settle = 50 * time.Millisecond

// watcher reports files of a session that programs change through the mount
// that this process sees: the kernel says so, nothing is asked again and again.
// What is done through another mount of the store is seen at the next read.
type watcher struct {
	changed func(rel string) // is called by one goroutine

	mu   sync.Mutex
	fs   *fsnotify.Watcher // guarded by mu; nil until somebody subscribed
	done chan struct{}     // closed when the goroutine ended
}

// watch begins, once.
func (w *watcher) watch(x *session) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fs != nil {
		return nil
	}
	watch, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	for _, rel := range []string{ctxabi.MessagesFile, ctxabi.EventsFile, ctxabi.ContextDir, ctxabi.PinnedDir} {
		if err := watch.Add(x.path(rel)); err != nil {
			watch.Close()
			return err
		}
	}
	w.fs, w.done = watch, make(chan struct{})
	go w.run(x, watch)
	return nil
}

// run collects and tells until the watch is closed.
func (w *watcher) run(x *session, watch *fsnotify.Watcher) {
	defer close(w.done)
	pending := map[string]bool{}
	var tell <-chan time.Time
	for {
		select {
		case e, ok := <-watch.Events:
			if !ok {
				return
			}
			if e.Op == fsnotify.Chmod {
				continue
			}
			if rel, err := filepath.Rel(x.Dir, e.Name); err == nil {
				pending[rel] = true
				if tell == nil {
					tell = time.After(settle)
				}
			}
		case _, ok := <-watch.Errors:
			if !ok {
				return
			}
		case <-tell:
			for rel := range pending {
				w.changed(rel)
			}
			pending, tell = map[string]bool{}, nil
		}
	}
}

// close ends the watch and waits for its goroutine.
func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fs != nil {
		w.fs.Close()
		<-w.done
	}
}
