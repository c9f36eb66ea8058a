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
	lookEvery   = 300 * time.Millisecond // between two looks at the sessions that are shown;
	calmAfter   = 30                     // after so many looks at which nothing changed,
	calmLooks   = 3                      // so many times that
	listEvery   = 3 * time.Second        // between two looks at which sessions there are, at least, and
	listShare   = 300                    // so many times as long as one takes;
	againShare  = 10                     // where there are others, so many times as long as a list of them took
	ageShare    = 200                    // between two lists of all, with when each changed, the same
	recent      = 100                    // of the sessions, those that changed last are looked at as often as the names
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

// Notice is a message of a stream that a session changed.
type Notice struct {
	Session  string `json:"session"` // "": it is of no single one
	Messages int    `json:"messages"`
	Events   int    `json:"events"`
	What     string `json:"what"`
}

// Depth is how much of a session is looked at.
type Depth int

// A row changes with fewer files than the views of one session.
const (
	AsRow Depth = iota + 1
	AsWhole
)

// Glance is the state of a session that a watcher compares to find a change.
type Glance struct {
	depth            Depth
	messages, events int64  // bytes
	lines            [2]int // records of both logs
	context          string
}

// Watcher looks at the sessions that somebody shows, once for all streams, and while there is one. It is safe
// for concurrent use.
type Watcher struct {
	names  func() []string
	entry  func(ref string) (Entry, bool)
	list   func() []Entry
	glance func(ref string, depth Depth, was Glance) (Glance, bool)

	mu      sync.Mutex
	refs    []string             // guarded by mu, as all that follows; those that were shown last at the end
	depths  map[string]Depth     // of refs
	seen    map[string]Glance    // of refs that could be looked at
	streams map[chan Notice]bool // one for each
	listed  []Entry              // by the last list of all; nil before the first one
	next    time.Time            // when the next list is due
	took    time.Duration        // the last one
	wake    chan struct{}        // holds one token when the first stream came
}

// Watcher returns a watcher of the sessions of s.
func (s *Source) Watcher() *Watcher {
	w := newWatcher(s.Sessions, func() []Entry { return s.List(nil) }, s.glance)
	w.entry = s.Entry
	return w
}

func newWatcher(names func() []string, list func() []Entry, at func(ref string, depth Depth, was Glance) (Glance, bool)) *Watcher {
	return &Watcher{names: names, list: list, glance: at, depths: map[string]Depth{}, seen: map[string]Glance{}, streams: map[chan Notice]bool{}, wake: make(chan struct{}, 1)}
}

// Show adds a session to those that are shown. Streams receive its changes from now on.
func (w *Watcher) Show(ref string, depth Depth) {
	w.mu.Lock()
	depth = max(depth, w.depths[ref])
	was, known := w.seen[ref]
	w.mu.Unlock()
	g, ok := was, known
	if !known || was.depth < depth {
		g, ok = w.glance(ref, depth, Glance{})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(ref)
	w.refs, w.depths[ref] = append(w.refs, ref), depth
	if ok {
		w.seen[ref] = g
	}
	if len(w.refs) > maxWatched {
		w.drop(w.refs[0])
	}
}

// drop forgets a session. w.mu is held.
func (w *Watcher) drop(ref string) {
	w.refs = slices.DeleteFunc(w.refs, func(x string) bool { return x == ref })
	delete(w.depths, ref)
	delete(w.seen, ref)
}

// Keep forgets all sessions but these.
func (w *Watcher) Keep(refs ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ref := range slices.Clone(w.refs) {
		if !slices.Contains(refs, ref) {
			w.drop(ref)
		}
	}
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
	looks, calm := 0, 0
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
		if looks++; calm < calmAfter || looks%calmLooks == 0 {
			if calm++; w.look() {
				calm = 0
			}
		}
		wait, others := listEvery, false
		if began := time.Now(); !began.Before(next) {
			now := w.names()
			others = names != nil && !slices.Equal(names, now)
			names, wait = now, max(wait, listShare*time.Since(began))
			next = time.Now().Add(wait)
			w.relook()
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

// relook looks again when the sessions changed that changed last, and sends a notice if one did that is not shown.
func (w *Watcher) relook() {
	was := w.Listed()
	now := slices.Clone(was)
	for i, e := range was[:min(recent, len(was))] {
		if e, ok := w.entry(e.Ref); ok {
			now[i] = e
		}
	}
	slices.SortStableFunc(now, newestFirst)
	w.mu.Lock()
	changed := len(w.listed) == len(was) && w.differ(was, now) // else there is another list meanwhile
	if changed {
		w.listed = now
	}
	w.mu.Unlock()
	if changed {
		w.tell(Notice{What: Sessions})
	}
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

// look sends a notice of each session that changed since the last look, and reports whether there was one.
func (w *Watcher) look() (changed bool) {
	w.mu.Lock()
	refs := slices.Clone(w.refs)
	w.mu.Unlock()
	for _, ref := range refs {
		w.mu.Lock()
		was, depth := w.seen[ref], w.depths[ref]
		w.mu.Unlock()
		if depth == 0 {
			continue // it was dropped meanwhile
		}
		now, ok := w.glance(ref, depth, was)
		if !ok {
			continue
		}
		w.mu.Lock()
		old := w.depths[ref] != depth
		if !old {
			w.seen[ref] = now
		}
		w.mu.Unlock()
		if old || now == was {
			continue
		}
		changed = true
		n := Notice{Session: ref, What: Context}
		if now.messages != was.messages || now.events != was.events {
			n.What, n.Messages, n.Events = Records, now.lines[0], now.lines[1]
		}
		w.tell(n)
	}
	return changed
}

// tell sends a notice to all streams. It closes a stream whose reader lags behind, who then asks anew.
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

// rowFiles are those besides messages.jsonl by which a row is known to be out of date.
var rowFiles = []string{ctxabi.StateFile, ctxabi.BudgetFile, ctxabi.PacksFile}

// wholeFiles are those besides them by which the views of one session are.
var wholeFiles = []string{ctxabi.ContextDir, ctxabi.ErrorsFile, ctxabi.PinnedDir}

// glance looks at a session. How many records its logs have is asked only where they are of another size than they were.
func (s *Source) glance(ref string, depth Depth, was Glance) (g Glance, ok bool) {
	dir := filepath.Join(s.Root, ref)
	fi, err := os.Stat(filepath.Join(dir, ctxabi.MessagesFile))
	if err != nil {
		return g, false
	}
	g.depth, g.messages, g.lines = depth, fi.Size(), was.lines
	files := rowFiles
	if depth == AsWhole {
		files = slices.Concat(rowFiles, wholeFiles)
		if fi, err := os.Stat(filepath.Join(dir, ctxabi.EventsFile)); err == nil {
			g.events = fi.Size()
		}
	}
	if g.messages != was.messages {
		g.lines[0] = RecordsOf(dir, ctxabi.MessagesFile)
	}
	if g.events != was.events {
		g.lines[1] = RecordsOf(dir, ctxabi.EventsFile)
	}
	for _, name := range files {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil {
			g.context += fmt.Sprintf("%d %d ", fi.Size(), fi.ModTime().UnixNano())
		}
	}
	return g, true
}
