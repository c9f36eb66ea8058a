package overview

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const (
	lookEvery   = 300 * time.Millisecond // between two looks at the sessions that are shown
	listEvery   = 3 * time.Second        // between two looks at which sessions there are, at least, and
	listShare   = 30                     // so many times as long as one takes;
	againShare  = 10                     // where there are others, so many times as long as a list of them took
	ageShare    = 100                    // between two lists of all, with when each changed, the same
	maxWatched  = 256                    // sessions, those that were shown last
	maxStreams  = 32
	slowNotices = 16 // notices that a reader may be behind
)

// What a [Notice] is of.
const (
	Records  = "records"  // there are more records
	Context  = "context"  // anything else of a session changed
	Sessions = "sessions" // there are others than before, or one that is not shown changed
)

// Notice is what a stream tells of a session that changed.
type Notice struct {
	Session  string `json:"session"` // "": it is of no single one
	Messages int    `json:"messages"`
	Events   int    `json:"events"`
	What     string `json:"what"`
}

// Glance is what is looked at to see a change.
type Glance struct {
	messages, events int64  // bytes
	lines            [2]int // records of both logs
	context          string
}

// Watcher looks at the sessions that somebody shows, once for all streams, and while there is one. It is safe
// for concurrent use.
type Watcher struct {
	names  func() []string
	list   func() []Entry
	glance func(ref string, was Glance) (Glance, bool)

	mu      sync.Mutex
	refs    []string             // guarded by mu, as all that follows; those that were shown last at the end
	seen    map[string]Glance    // of refs
	streams map[chan Notice]bool // one for each
	listed  []Entry              // by the last list of all; nil before the first one
	next    time.Time            // when the next list is due
	took    time.Duration        // the last one
	wake    chan struct{}        // holds one token when the first stream came
}

// Watcher returns a watcher of the sessions of s.
func (s *Source) Watcher() *Watcher {
	return newWatcher(s.Sessions, func() []Entry { return s.List(nil) }, s.glance)
}

func newWatcher(names func() []string, list func() []Entry, at func(ref string, was Glance) (Glance, bool)) *Watcher {
	return &Watcher{names: names, list: list, glance: at, seen: map[string]Glance{}, streams: map[chan Notice]bool{}, wake: make(chan struct{}, 1)}
}

// Show remembers that these sessions are shown, beside those before. What changes from now on is told.
func (w *Watcher) Show(refs ...string) {
	for _, ref := range refs {
		w.mu.Lock()
		_, known := w.seen[ref]
		w.mu.Unlock()
		g, ok := Glance{}, false
		if !known {
			g, ok = w.glance(ref, g)
		}
		w.mu.Lock()
		if i := slices.Index(w.refs, ref); i >= 0 {
			w.refs = slices.Delete(w.refs, i, i+1)
		}
		if _, known := w.seen[ref]; ok && !known {
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

// ShowOnly remembers that these sessions are shown, and no others any more.
func (w *Watcher) ShowOnly(refs ...string) {
	w.mu.Lock()
	w.refs = slices.DeleteFunc(w.refs, func(ref string) bool {
		gone := !slices.Contains(refs, ref)
		if gone {
			delete(w.seen, ref)
		}
		return gone
	})
	w.mu.Unlock()
	w.Show(refs...)
}

// Listed returns what the last list of all sessions had.
func (w *Watcher) Listed() []Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.listed
}

// Run looks until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var names []string
	next := time.Now() // of a look at the names
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
		wait, others := listEvery, false
		if began := time.Now(); !began.Before(next) {
			now := w.names()
			others = names != nil && !slices.Equal(names, now)
			names, wait = now, max(wait, listShare*time.Since(began))
			next = time.Now().Add(wait)
		}
		w.mu.Lock()
		due := others || !time.Now().Before(w.next)
		w.mu.Unlock()
		if due {
			w.List()
		}
		if others {
			next = time.Now().Add(max(wait, againShare*w.lastTook()))
		}
	}
}

// List returns all sessions, as [Source.List], and sends a notice if they differ from those of the last list.
func (w *Watcher) List() []Entry {
	began := time.Now()
	now := w.list()
	if now == nil {
		now = []Entry{} // there is a list
	}
	w.mu.Lock()
	changed := w.listed != nil && w.differ(w.listed, now)
	w.listed = now
	w.took = time.Since(began)
	w.next = time.Now().Add(max(listEvery, ageShare*w.took)) // of many sessions seldom
	w.mu.Unlock()
	if changed {
		w.tell(Notice{What: Sessions})
	}
	return now
}

func (w *Watcher) lastTook() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.took
}

// differ reports whether two lists differ in more than in when the sessions changed that are watched anyway. w.mu is held.
func (w *Watcher) differ(a, b []Entry) bool {
	if len(a) != len(b) {
		return true
	}
	watched := func(e Entry) bool { _, ok := w.seen[e.Ref]; return ok }
	for i, k := 0, 0; ; i, k = i+1, k+1 {
		for i < len(a) && watched(a[i]) {
			i++
		}
		for k < len(b) && watched(b[k]) {
			k++
		}
		if i == len(a) || k == len(b) {
			return i < len(a) || k < len(b)
		}
		if a[i].Ref != b[k].Ref || !a[i].Updated.Equal(b[k].Updated) {
			return true
		}
	}
}

// look sends a notice of each session that changed since the last look.
func (w *Watcher) look() {
	w.mu.Lock()
	refs := slices.Clone(w.refs)
	w.mu.Unlock()
	for _, ref := range refs {
		w.mu.Lock()
		was := w.seen[ref]
		w.mu.Unlock()
		now, ok := w.glance(ref, was)
		if !ok {
			continue
		}
		w.mu.Lock()
		if slices.Contains(w.refs, ref) { // else it was taken away meanwhile
			w.seen[ref] = now
		}
		w.mu.Unlock()
		if now == was {
			continue
		}
		n := Notice{Session: ref, What: Context}
		if now.messages != was.messages || now.events != was.events {
			n.What, n.Messages, n.Events = Records, now.lines[0], now.lines[1]
		}
		w.tell(n)
	}
}

// tell sends a notice to all streams. One that does not read is closed, and whoever has it asks anew.
func (w *Watcher) tell(n Notice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.streams {
		select {
		case c <- n:
		default:
			delete(w.streams, c)
			close(c)
		}
	}
}

// Join returns a new stream; nil when there are too many.
func (w *Watcher) Join() chan Notice {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.streams) >= maxStreams {
		return nil
	}
	c := make(chan Notice, slowNotices)
	w.streams[c] = true
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return c
}

// Leave ends a stream.
func (w *Watcher) Leave(c chan Notice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.streams[c] {
		delete(w.streams, c)
		close(c)
	}
}

// glance looks at a session. How many records its logs have is asked only where they are of another size than they were.
func (s *Source) glance(ref string, was Glance) (g Glance, ok bool) {
	dir := filepath.Join(s.Root, ref)
	fi, err := os.Stat(filepath.Join(dir, ctxabi.MessagesFile))
	if err != nil {
		return g, false
	}
	g.messages, g.lines = fi.Size(), was.lines
	if fi, err := os.Stat(filepath.Join(dir, ctxabi.EventsFile)); err == nil {
		g.events = fi.Size()
	}
	if g.messages != was.messages {
		g.lines[0] = RecordsOf(dir, ctxabi.MessagesFile)
	}
	if g.events != was.events {
		g.lines[1] = RecordsOf(dir, ctxabi.EventsFile)
	}
	for _, name := range []string{ctxabi.StateFile, ctxabi.ContextDir, ctxabi.BudgetFile, ctxabi.ErrorsFile, ctxabi.PacksFile, ctxabi.PinnedDir} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil {
			g.context += fmt.Sprintf("%d %d ", fi.Size(), fi.ModTime().UnixNano())
		}
	}
	return g, true
}
