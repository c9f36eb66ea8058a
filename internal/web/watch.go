package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const (
	lookEvery   = 300 * time.Millisecond // between two looks at the sessions that pages show
	listEvery   = 3 * time.Second        // between two lists of all sessions, at least, and
	listShare   = 30                     // so many times as long as one takes
	stillAlive  = 15 * time.Second       // an empty line for who waits
	maxWatched  = 256                    // sessions, those that were shown last
	maxStreams  = 32
	slowNotices = 16 // notices that a reader may be behind
)

// notice is what a stream tells of a session that changed.
type notice struct {
	Session  string `json:"session"` // "": there are others than before
	Messages int    `json:"messages"`
	Events   int    `json:"events"`
	What     string `json:"what"` // "records", "context", "sessions"
}

// glance is what is looked at to see a change.
type glance struct {
	messages, events int64  // bytes
	lines            [2]int // records of both logs
	context          string
}

// watcher looks at the sessions that pages show, once for all streams, and while there is one. It is safe
// for concurrent use.
type watcher struct {
	list   func() []string
	glance func(ref string) (glance, bool)

	mu      sync.Mutex
	refs    []string             // guarded by mu, as all that follows; those that were shown last at the end
	seen    map[string]glance    // of refs
	streams map[chan []byte]bool // one for each
	wake    chan struct{}        // holds one token when the first stream came
}

func newWatcher(list func() []string, at func(string) (glance, bool)) *watcher {
	return &watcher{list: list, glance: at, seen: map[string]glance{}, streams: map[chan []byte]bool{}, wake: make(chan struct{}, 1)}
}

// shown remembers that pages show these sessions.
func (w *watcher) shown(refs ...string) {
	for _, ref := range refs {
		g, ok := w.glance(ref)
		w.mu.Lock()
		if i := slices.Index(w.refs, ref); i >= 0 {
			w.refs = slices.Delete(w.refs, i, i+1)
		} else if ok {
			w.seen[ref] = g
		}
		w.refs = append(w.refs, ref)
		if len(w.refs) > maxWatched {
			delete(w.seen, w.refs[0])
			w.refs = slices.Delete(w.refs, 0, 1)
		}
		w.mu.Unlock()
	}
}

// run looks until ctx ends.
func (w *watcher) run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var all []string
	next := time.Now() // of a list of all sessions
	for {
		w.mu.Lock()
		idle := len(w.streams) == 0
		w.mu.Unlock()
		if idle {
			select {
			case <-w.wake:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		w.look()
		if began := time.Now(); !began.Before(next) {
			now := w.list()
			next = time.Now().Add(max(listEvery, listShare*time.Since(began))) // of many sessions seldom
			if all != nil && !slices.Equal(all, now) {
				w.tell(notice{What: "sessions"})
			}
			all = now
		}
	}
}

// look sends a notice of each session that changed since the last look.
func (w *watcher) look() {
	w.mu.Lock()
	refs := slices.Clone(w.refs)
	w.mu.Unlock()
	for _, ref := range refs {
		now, ok := w.glance(ref)
		if !ok {
			continue
		}
		w.mu.Lock()
		was := w.seen[ref]
		w.seen[ref] = now
		w.mu.Unlock()
		if now == was {
			continue
		}
		n := notice{Session: ref, What: "context"}
		if now.messages != was.messages || now.events != was.events {
			n.What, n.Messages, n.Events = "records", now.lines[0], now.lines[1]
		}
		w.tell(n)
	}
}

// tell sends a notice to all streams. One that does not read loses its connection, and its page asks anew.
func (w *watcher) tell(n notice) {
	data, _ := json.Marshal(n) // strings and numbers
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.streams {
		select {
		case c <- data:
		default:
			delete(w.streams, c)
			close(c)
		}
	}
}

// join returns a new stream; nil when there are too many.
func (w *watcher) join() chan []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.streams) >= maxStreams {
		return nil
	}
	c := make(chan []byte, slowNotices)
	w.streams[c] = true
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return c
}

func (w *watcher) leave(c chan []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.streams[c] {
		delete(w.streams, c)
		close(c)
	}
}

// events is the stream that the tabs of a browser share.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	c := s.watch.join()
	if c == nil {
		s.refused(w, refusal{http.StatusServiceUnavailable, "too many browsers watch"})
		return
	}
	defer s.watch.leave(c)
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "retry: 1000\n\n: hello\n\n")
	out.Flush()
	alive := time.NewTicker(stillAlive)
	defer alive.Stop()
	for {
		select {
		case data, ok := <-c:
			if !ok {
				return
			}
			fmt.Fprintf(w, "data: %s\n\n", data)
		case <-alive.C:
			fmt.Fprint(w, ": still here\n\n")
		case <-r.Context().Done():
			return
		}
		if out.Flush() != nil {
			return
		}
	}
}

// glance looks at a session.
func (s *Server) glance(ref string) (g glance, ok bool) {
	dir := filepath.Join(s.Root, ref)
	fi, err := os.Stat(filepath.Join(dir, ctxabi.MessagesFile))
	if err != nil {
		return g, false
	}
	g.messages = fi.Size()
	if fi, err := os.Stat(filepath.Join(dir, ctxabi.EventsFile)); err == nil {
		g.events = fi.Size()
	}
	g.lines = [2]int{records(dir, ctxabi.MessagesFile), records(dir, ctxabi.EventsFile)}
	for _, name := range []string{ctxabi.StateFile, ctxabi.ContextDir, ctxabi.BudgetFile, ctxabi.ErrorsFile, ctxabi.PacksFile, ctxabi.PinnedDir} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil {
			g.context += fmt.Sprintf("%d %d ", fi.Size(), fi.ModTime().UnixNano())
		}
	}
	return g, true
}
