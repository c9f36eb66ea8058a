package search

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// Sizes, in bytes of the logs.
const (
	inlineBytes = 2 << 20   // that whoever asks reads himself
	tailBytes   = 256 << 10 // that are kept in memory alone
	chunkBytes  = 8 << 20   // of one segment that is made of records; less where memory is limited
	newestBytes = 1 << 20   // that are looked at beyond an index that is behind
	mergeInline = 4 << 20   // of segments that whoever asks merges himself
)

// index is what is known of one session's records.
type index struct {
	e *Engine
	x *session.Session

	used  atomic.Int64  // when it was asked for last, in ns since 1970
	work  chan struct{} // held by whoever brings it up to date, before mu
	users int           // who may bring it up to date, so that there is no second one of the session; guarded by Engine.mu

	mu       sync.Mutex
	loaded   bool
	parts    [2]part       // messages, events
	next     int           // number of the next segment
	building chan struct{} // closed when the builder that is at work ends; nil: none is
	merged   []*segment    // whose files are removed once no view reads them
	from     *manifest     // that load read; nil: there was none
	told     bool          // that it was damaged
	failed   string        // why the last builder could not go on; "": it could
}

// part is what is indexed of one log. Segments stand in the order of their records.
type part struct {
	segments []*segment
	records  int    // that they have
	bytes    int64  // of the log
	tail     *chunk // what came since; only its last segment counts
	last     *segment
}

// view is what there is to search at one moment. What it names can be read until it is closed, whatever is merged meanwhile.
type view struct {
	x        *session.Session
	n        *index
	pinned   []*segment
	segments [2][]*segment
	upTo     [2]int // records that are indexed without a gap
	all      [2]int // records that there are
	ix       [2]*session.Index
	failed   string // why the index cannot be brought up to date
}

// close releases the segments; it may be called twice, and on nil.
func (v *view) close() {
	if v == nil || len(v.pinned) == 0 {
		return
	}
	v.n.mu.Lock()
	for _, s := range v.pinned {
		s.views--
	}
	v.n.mu.Unlock()
	v.pinned = nil
	v.n.removeMerged()
}

// removeMerged removes the files of merged segments that no view reads.
func (n *index) removeMerged() {
	n.mu.Lock()
	var free []*segment
	n.merged = slices.DeleteFunc(n.merged, func(s *segment) bool {
		if s.views == 0 {
			free = append(free, s)
		}
		return s.views == 0
	})
	n.mu.Unlock()
	for _, s := range free {
		n.x.RemoveDerived(s.name)
	}
}

// load reads what is on the disk; mu is held.
func (n *index) load() {
	if n.loaded {
		return
	}
	n.loaded, n.next, n.parts = true, 1, [2]part{}
	for {
		m := readManifest(n.x)
		n.from = m
		if m == nil {
			if !n.e.c.ReadOnly {
				remove(n.x) // of another version, torn, or none
			}
			return
		}
		why := m.fits(n.x)
		if why == "" {
			parts, err := m.open(n.x)
			if err == nil {
				n.sweep(m)
				n.next = m.Next
				for i, p := range m.Logs {
					n.parts[i] = part{segments: parts[i], records: p.Records, bytes: p.Bytes}
				}
				return
			}
			why = err.Error()
		}
		if !n.replaced() {
			n.discard(why)
			return
		}
	}
}

// replaced reports whether a daemon beside this process made another index of what load read: what that named is gone then, and
// not damaged. mu is held.
func (n *index) replaced() bool {
	return n.e.c.ReadOnly && n.from != nil && !reflect.DeepEqual(n.from, readManifest(n.x))
}

// sweep removes segments that a crash left behind.
func (n *index) sweep(m *manifest) {
	if n.e.c.ReadOnly {
		return
	}
	named := map[string]bool{}
	for _, p := range m.Logs {
		for _, s := range p.Segments {
			named[s.Name] = true
		}
	}
	for _, name := range n.x.DerivedNames(Dir) {
		if isSegment(name) && !named[name] {
			n.x.RemoveDerived(name)
		}
	}
}

// discard drops an index that cannot be used, and logs that once; mu is held.
func (n *index) discard(why string) {
	n.parts, n.merged = [2]part{}, nil // next goes on: a view still has the old names
	if n.e.c.ReadOnly {
		return
	}
	remove(n.x)
	if !n.told {
		n.told = true
		n.x.Report(session.ErrorRow{Op: "search", Path: ctxabi.SearchDir, Errno: "EIO", Reason: "the search index is rebuilt: " + why})
	}
}

// drop is discard after a damage that was found in a view. One of segments that are in use no more says nothing of the
// others: somebody, here or in another process, made the index anew meanwhile, and drop says so.
func (n *index) drop(v *view, why error) (already bool) {
	select {
	case n.work <- struct{}{}:
		defer func() { <-n.work }()
	default:
		return false // whoever is at work meets it
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(v.pinned) > 0 && !n.has(v) {
		return true
	}
	already = n.replaced()
	n.discard(why.Error())
	n.loaded = !n.e.c.ReadOnly // there, it is read again
	return already
}

// has reports whether one of the view's segments is still part of the index; mu is held.
func (n *index) has(v *view) bool {
	for _, p := range n.parts {
		if slices.ContainsFunc(v.pinned, func(s *segment) bool { return s == p.last || slices.Contains(p.segments, s) }) {
			return true
		}
	}
	return false
}

// view brings the index up to date, as far as that is done until ctx ends, and gives what there is then.
func (n *index) view(ctx context.Context) (*view, error) {
	for {
		v, rest, building, err := n.look()
		if err != nil || rest == 0 {
			return v, err
		}
		v.close()
		if building == nil && rest <= inlineBytes {
			if err := n.catchUp(ctx, v, rest); err != nil {
				return nil, err
			}
			if ctx.Err() == nil {
				continue
			}
		}
		if building == nil {
			building = n.build()
		}
		select {
		case <-building:
			now, rest, _, err := n.look()
			if err != nil || rest == 0 {
				return now, err
			}
			if rest > inlineBytes && now.upTo == v.upTo || n.e.ctx.Err() != nil { // it could not go on
				return n.behind(now)
			}
			now.close()
		case <-ctx.Done():
			if v, rest, _, err = n.look(); err != nil || rest == 0 {
				return v, err
			}
			return n.behind(v)
		}
	}
}

// look returns what there is, and how many bytes of the logs are not in it. The logs' own indexes are read only where
// something is missing. The view is to be closed.
func (n *index) look() (v *view, rest int64, building chan struct{}, err error) {
	v = &view{x: n.x, n: n}
	n.mu.Lock()
	n.load()
	n.mu.Unlock()
	var ix [2]*session.Index
	var seen [2]int64
	for i := range ix {
		l := logOf(n.x, i)
		if err := l.Open(); err != nil {
			return nil, 0, nil, err
		}
		n.mu.Lock()
		seen[i] = n.parts[i].size()
		n.mu.Unlock()
		behind := seen[i] < l.Len()
		if behind {
			if ix[i], err = l.Index(); err != nil {
				return nil, 0, nil, err
			}
		}
	}
	n.mu.Lock()
	for i := range seen {
		if n.parts[i].size() < seen[i] { // somebody found it damaged meanwhile
			n.mu.Unlock()
			return n.look()
		}
	}
	defer n.mu.Unlock()
	v.failed = n.failed
	for i := range n.parts {
		p := &n.parts[i]
		v.segments[i], v.upTo[i] = slices.Clone(p.segments), p.records
		if p.last != nil {
			v.segments[i] = append(v.segments[i], p.last)
			v.upTo[i] += p.last.n
		}
		v.pinned = append(v.pinned, v.segments[i]...)
		v.all[i] = v.upTo[i]
		if ix[i] != nil && ix[i].Len() > v.upTo[i] {
			v.all[i] = ix[i].Len()
			rest += ix[i].Size() - p.size()
		}
	}
	for _, s := range v.pinned {
		s.views++
	}
	v.ix = ix
	return v, rest, n.building, nil
}

// size is how many bytes of the log are indexed.
func (p *part) size() int64 {
	if p.last != nil {
		return p.bytes + p.last.bytes
	}
	return p.bytes
}

// index is the index of a log, which has all records of the view.
func (v *view) index(i int) (*session.Index, error) {
	if ix := v.ix[i]; ix != nil && ix.Len() >= v.all[i] {
		return ix, nil
	}
	ix, err := logOf(v.x, i).Index()
	v.ix[i] = ix
	return ix, err
}

// memory is about how many bytes the index takes.
func (n *index) memory() (size int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	size = 512
	for _, p := range n.parts {
		for _, s := range p.segments {
			size += s.memory()
		}
		if p.last != nil {
			size += 4 * p.last.memory() // with the tail that it was made of
		}
	}
	return size
}
