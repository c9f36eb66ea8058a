package builder

import (
	"context"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ctxfs/ctxfs/session"
)

// maxWatched is how many agents' homes are watched at most.
const maxWatched = 1000

// quiet is how long nothing must happen to a recipe before it is checked: an editor writes in several steps.
const quiet = 50 * time.Millisecond

// watcher looks after the recipes in the homes of agents whose sessions are in use, so that a wrong one
// stands in errors.jsonl before anybody reads a pack. It makes things known sooner, and nothing depends
// on it: each pack looks at the recipe itself. Only a home's own files are watched.
type watcher struct {
	b     *Builder
	log   *slog.Logger
	notes *fsnotify.Watcher
	stop  context.CancelFunc
	done  chan struct{} // closed when the loop has ended

	mu    sync.Mutex
	store *session.Store
	homes map[string]bool // absolute; false: it cannot be watched; guarded by mu
	tired bool            // it was logged that not all are watched; guarded by mu
}

// Watch checks recipes when they change, until [Builder.Close]. Where the system allows no watching, that is logged and packs are as they were.
func (b *Builder) Watch(log *slog.Logger) {
	notes, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("recipes are checked only when a pack is read", "err", err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &watcher{b: b, log: log, notes: notes, stop: stop, done: make(chan struct{}), homes: map[string]bool{}}
	go w.loop(ctx)
	b.watcher.Store(w)
}

func (w *watcher) close() {
	w.stop()
	<-w.done
}

// Use marks a session as in use: from then on the recipe of its agent is watched.
func (b *Builder) Use(x *session.Session) {
	if w := b.watcher.Load(); w != nil {
		w.use(x)
	}
}

func (w *watcher) use(x *session.Session) {
	dir := filepath.Join(x.Store().Dir(), x.Ref().AgentHome())
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.homes[dir]; known {
		return
	}
	w.store = x.Store()
	if len(w.homes) >= maxWatched {
		w.tire("max", maxWatched)
		return
	}
	err := w.notes.Add(dir)
	if w.homes[dir] = err == nil; err != nil {
		w.tire("err", err)
	}
}

// tire returns once that not everything is watched; mu is held.
func (w *watcher) tire(key string, value any) {
	if !w.tired {
		w.tired = true
		w.log.Info("some agents' recipes are checked only when a pack is read", key, value)
	}
}

func (w *watcher) loop(ctx context.Context) {
	defer close(w.done)
	defer w.notes.Close()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	changed := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-w.notes.Errors:
			w.log.Debug("watching recipes", "err", err)
		case e := <-w.notes.Events:
			dir := path.Dir(e.Name)
			if e.Has(fsnotify.Remove) && w.forget(e.Name) {
				continue
			}
			if ext := path.Ext(e.Name); (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(path.Base(e.Name), ".") {
				changed[dir] = true
				timer.Reset(quiet)
			}
		case <-timer.C:
			for dir := range changed {
				w.check(ctx, dir)
			}
			clear(changed)
		}
	}
}

// forget removes a home that was removed or renamed, so that it can be watched again.
func (w *watcher) forget(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known := w.homes[dir]
	delete(w.homes, dir)
	return known
}

// check checks the recipes of the sessions in use of the agent whose home is dir.
func (w *watcher) check(ctx context.Context, dir string) {
	w.mu.Lock()
	store := w.store
	w.mu.Unlock()
	if _, err := os.Lstat(dir); err != nil || store == nil {
		return
	}
	for x := range store.Loaded {
		if ctx.Err() != nil {
			return
		}
		if filepath.Join(store.Dir(), x.Ref().AgentHome()) == dir {
			w.b.CheckRecipe(ctx, x)
		}
	}
}

// CheckRecipe reports what is wrong with the session's recipe in its errors.jsonl, where that was not done before.
// For a generator of the session, whose build may be waiting for it, the next pack does that.
func (b *Builder) CheckRecipe(ctx context.Context, x *session.Session) {
	if b.IsInside(ctx, x) {
		return
	}
	e := b.use(x)
	if e.lock(ctx) != nil {
		return
	}
	defer func() { <-e.busy }()
	b.inputs.CheckRecipe(x)
}
