package search

import (
	"errors"
	"hash/crc32"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/segment"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Sizes, in bytes of the logs.
const (
	inlineBytes = 2 << 20   // of a session, that a search reads itself
	tailBytes   = 256 << 10 // that are kept in memory alone
	chunkBytes  = 8 << 20   // of one segment that is made of records; less where memory is limited
	newestBytes = 1 << 20   // that are looked at beyond an index that is behind
	mergeInline = 4 << 20   // of segments that whoever asks merges himself
)

// index is the index of an owner's records.
type index struct {
	e     *Engine
	of    ctxabi.Ref // the owner
	files session.Owned

	users   int         // searches and builders that use it; no second index of the owner is made while there are some; guarded by Engine.mu
	looking sync.Mutex  // held for a walk over the owner's sessions; taken before work
	purging atomic.Bool // somebody waits for his turn to purge it

	work   chan struct{}      // held to bring it up to date; taken before mu
	tail   *segment.Chunk     // the records that are in no segment on the disk; nil: none; guarded by work
	staged map[uint32]*staged // sessions of which the tail has more records than sessions counts; guarded by work

	news  sync.Mutex           // a leaf
	named []session.NameChange // that were not looked at; guarded by news
	grown []*disk.Dir          // likewise

	mu       sync.Mutex
	loaded   bool
	walked   bool // the owner's sessions were looked at since it was read
	sessions map[uint32]*known
	byRef    map[ctxabi.Ref]uint32
	stale    map[uint32]uint64 // sessions whose logs may have more than is indexed, and which mark that is
	marks    uint64
	roster   *roster             // of sessions; nil: it changed since
	segments []*segment.Segment  // oldest first
	last     *segment.Segment    // of the tail
	next     int                 // number of the next segment
	number   uint32              // of the next session
	unsaved  int                 // changes of sessions that the manifest does not have, tail aside
	from     uint32              // checksum of the manifest that load read
	building chan struct{}       // closed when the builder that is at work ends; nil: none is
	todo     []uint32            // sessions that the builder is to index, one after the other
	queued   map[uint32]bool     // those of todo
	merged   []*segment.Segment  // whose files are removed once no snapshot has them
	told     map[ctxabi.Ref]bool // sessions whose errors.jsonl has a row that they are indexed anew
	torn     bool                // the manifest names a dropped segment or session
	hurt     error               // what happened to the builder at one session, while it went on with others
	failed   string              // why the last builder could not go on; "": it could
}

func newIndex(e *Engine, of ctxabi.Ref) *index {
	of.Agent, of.Session = "", ""
	return &index{e: e, of: of, files: e.store.Owned(of), work: make(chan struct{}, 1), users: 1, queued: map[uint32]bool{}, told: map[ctxabi.Ref]bool{}}
}

// clear makes it one of nothing; mu is held.
func (n *index) clear() {
	n.sessions, n.byRef, n.stale = map[uint32]*known{}, map[ctxabi.Ref]uint32{}, map[uint32]uint64{}
	n.segments, n.last, n.roster, n.walked, n.unsaved = nil, nil, nil, false, 0
	n.next, n.number = max(n.next, 1), max(n.number, 1) // a snapshot still has the old ones
}

// load reads the manifest and the segments from the disk; mu is held, and no other goroutine holds work.
func (n *index) load() {
	for !n.loaded {
		n.loaded = true
		n.clear()
		data, err := n.read(manifestFile)
		n.from = crc32.Checksum(data, segment.Castagnoli)
		var m *manifest
		if err == nil {
			m, err = decodeManifest(data, n.of)
		}
		if err != nil {
			if !n.e.c.ReadOnly {
				remove(n.files) // of another version, torn, or none
			}
			if !errors.Is(err, errVersion) && !errors.Is(err, fs.ErrNotExist) {
				n.e.log.Warn("search index", "owner", n.of.Owner(), "err", err)
			}
			return
		}
		var why error
		bad := map[string]bool{} // segments that cannot be read
		for _, e := range m.segments {
			bad[e.name] = true
			s, err := openNamed(n.files, e)
			if err != nil {
				why = err
				continue
			}
			n.segments = append(n.segments, s)
			delete(bad, e.name)
		}
		if why != nil && n.replaced() {
			n.loaded = false
			continue
		}
		for name := range bad {
			n.removeFile(name)
		}
		n.next, n.number = max(n.next, m.next), max(n.number, m.number)
		for _, k := range m.sessions {
			n.sessions[k.number], n.byRef[k.ref] = k, k.number
		}
		n.sweep(m)
		n.purgeSoon() // sessions may have gone while nobody looked
		if lost := m.lacking(n.segments); len(lost) > 0 {
			if why == nil {
				why = segment.Damaged("segments lack records")
			}
			n.anew(lost, why)
		}
	}
}

// read reads derived content, unless a link leads there.
func (n *index) read(name string) ([]byte, error) {
	if err := n.files.Check(); err != nil {
		return nil, err
	}
	return n.files.Derived(name)
}

// replaced reports whether a daemon beside this process made other segments since load read the
// manifest: those that it named are gone then, and not damaged. mu is held.
func (n *index) replaced() bool {
	if !n.e.c.ReadOnly {
		return false
	}
	data, err := n.read(manifestFile)
	return err == nil && crc32.Checksum(data, segment.Castagnoli) != n.from
}

// sweep removes segments that a crash left behind.
func (n *index) sweep(m *manifest) {
	if n.e.c.ReadOnly {
		return
	}
	named := map[string]bool{}
	for _, s := range m.segments {
		named[s.name] = true
	}
	for _, name := range n.files.DerivedNames(Dir) {
		if isSegment(name) && !named[name] {
			n.files.RemoveDerived(name)
		}
	}
}

// add makes a session known, of which nothing is indexed; mu is held.
func (n *index) add(ref ctxabi.Ref, id string) *known {
	k := &known{number: n.number, ref: ref, id: id}
	n.number++
	n.set(k)
	n.mark(k.number)
	n.unsaved++
	return k
}

// set puts k in the place of what was known of its session; mu is held.
func (n *index) set(k *known) {
	if old := n.sessions[k.number]; old != nil && old.ref != k.ref && n.byRef[old.ref] == k.number {
		delete(n.byRef, old.ref)
	}
	n.sessions[k.number], n.byRef[k.ref] = k, k.number
	n.roster = nil
}

// mark notes that a session may have more than is indexed; mu is held.
func (n *index) mark(number uint32) {
	n.marks++
	n.stale[number] = n.marks
}

// whole notes that all of a session is indexed, unless it was found to have more since a mark; mu is
// held.
func (n *index) whole(number uint32, mark uint64) {
	if mark != 0 && n.stale[number] == mark {
		delete(n.stale, number)
	}
}

// lose takes a session out of the index at once. What segments have of it counts no more, and goes
// when they are written next. mu is held.
func (n *index) lose(k *known) {
	delete(n.sessions, k.number)
	delete(n.stale, k.number)
	if n.byRef[k.ref] == k.number {
		delete(n.byRef, k.ref)
	}
	n.roster = nil
	n.unsaved++
	if k.logs[0].records+k.logs[1].records > 0 {
		n.purgeSoon()
	}
}

// anew marks sessions to be indexed from their first record on, and adds the reason to the errors.jsonl of
// each, once; mu is held.
func (n *index) anew(list []*known, why error) {
	const mostTold = 16
	for i, k := range list {
		n.lose(k)
		fresh := *n.add(k.ref, k.id)
		fresh.x, fresh.fits = k.x, k.x != nil
		n.set(&fresh)
		if i >= mostTold || n.e.c.ReadOnly || n.told[k.ref] {
			continue
		}
		n.told[k.ref] = true
		if x, err := n.e.store.Session(k.ref); err == nil {
			x.Report(disk.ErrorRow{Op: "search", Path: ctxabi.SearchDir, Errno: "EIO", Reason: "the search index is rebuilt: " + why.Error()})
		}
	}
	n.torn = true
	n.e.log.Warn("search index is rebuilt", "owner", n.of.Owner(), "sessions", len(list), "err", why)
}

// dropSegment drops a segment that cannot be read, and marks the sessions in it to be indexed anew. It
// returns true and changes nothing if the segment is not in use any more, because this process or another
// one has replaced it.
func (n *index) dropSegment(s *segment.Segment, why error) (already bool) {
	select {
	case n.work <- struct{}{}:
		defer func() { <-n.work }()
	default:
		return false // whoever is at work meets it
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	at := slices.Index(n.segments, s)
	if at < 0 && s != n.last {
		return true
	}
	if n.replaced() {
		n.forget()
		n.loaded = false
		return true
	}
	if s == n.last {
		n.forget()
		return false
	}
	n.segments = slices.Delete(slices.Clone(n.segments), at, at+1)
	n.merged = append(n.merged, s)
	var lost []*known
	for i := range s.Runs {
		if k := n.sessions[s.Runs[i].Of]; k != nil && !slices.Contains(lost, k) {
			lost = append(lost, k)
		}
	}
	n.forget()
	for i, k := range lost {
		lost[i] = n.sessions[k.number]
	}
	n.anew(lost, why)
	return false
}

// misfit is dropSegment for a session whose records in the segments differ from its logs.
func (n *index) misfit(k *known, why error) (already bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.sessions[k.number]
	if now == nil {
		return true
	}
	n.anew([]*known{now}, why)
	return false
}

// forget drops the tail; work and mu are held.
func (n *index) forget() {
	n.tail, n.staged, n.last = nil, nil, nil
	for _, k := range n.sessions {
		if k.logs[0].records == k.logs[0].inFiles.records && k.logs[1].records == k.logs[1].inFiles.records {
			continue
		}
		less := *k
		for i := range less.logs {
			less.logs[i].records, less.logs[i].bytes = less.logs[i].inFiles.records, less.logs[i].inFiles.bytes
		}
		n.set(&less)
		n.mark(k.number)
	}
}

// rosterNow returns the sessions as they are; mu is held.
func (n *index) rosterNow() *roster {
	if n.roster == nil {
		n.roster = newRoster(n.sessions)
	}
	return n.roster
}

// snapshot returns what there is to search of the owner; it is to be closed. mu is held.
func (n *index) snapshot() *snapshot {
	s := &snapshot{n: n, r: n.rosterNow(), segments: slices.Clone(n.segments), views: map[*known]*view{}, failed: n.failed}
	if n.last != nil {
		s.segments = append(s.segments, n.last)
	}
	s.pinned = slices.Clone(s.segments)
	for _, of := range s.pinned {
		of.Views++
	}
	return s
}

// removeMerged removes the files of merged segments that no snapshot has.
func (n *index) removeMerged() {
	n.mu.Lock()
	var free []*segment.Segment
	n.merged = slices.DeleteFunc(n.merged, func(s *segment.Segment) bool {
		if s.Views == 0 {
			free = append(free, s)
		}
		return s.Views == 0
	})
	n.mu.Unlock()
	for _, s := range free {
		n.removeFile(s.Name)
	}
}

// removeFile removes the file of a segment that is of no use any more; "": it is in memory.
func (n *index) removeFile(name string) {
	if name != "" && !n.e.c.ReadOnly {
		n.files.RemoveDerived(name)
	}
}

// memory is about how many bytes the index takes.
func (n *index) memory() (size int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	size = 512 + 512*len(n.sessions)
	for _, s := range n.segments {
		size += s.Memory()
	}
	if n.last != nil {
		size += 4 * n.last.Memory() // with the tail that it was made of
	}
	return size
}
