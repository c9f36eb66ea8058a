package search

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/segment"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// known is what an index has of a session. It does not change: what becomes known makes another one.
type known struct {
	number uint32 // by which segments call the session; no other one of the index ever has it
	ref    ctxabi.Ref
	id     string // hex; "" while nobody looked
	logs   [2]knownLog

	fits    bool             // the logs were held against it since the index was read
	stamped bool             // the stamps, and the heads, are of what the segments on the disk have
	x       *session.Session // where it was looked up; nil: not yet
}

// knownLog is what an index has of a log.
type knownLog struct {
	records int   // that are indexed
	bytes   int64 // of the log, that they take

	inFiles knownPart     // of these, what segments on the disk have
	head    string        // of the log's chain behind that, in hex; "": not known
	stamp   session.Stamp // of the log's own file when it ended there; zero: not known
	grew    int64         // when the log last grew, in ns since 1970
}

type knownPart struct {
	records int
	bytes   int64
}

// grew is when the session last grew.
func (k *known) grew() int64 { return max(k.logs[0].grew, k.logs[1].grew) }

// before reports whether records of k stand in front of those of o that are as good: k grew later.
func (k *known) before(o *known) bool {
	if a, b := k.grew(), o.grew(); a != b {
		return a > b
	}
	if c := cmp.Or(cmp.Compare(k.ref.Agent, o.ref.Agent), cmp.Compare(k.ref.Session, o.ref.Session)); c != 0 {
		return c < 0
	}
	return k.number > o.number
}

// sortKnown sorts sessions as before does.
func sortKnown(list []*known) {
	slices.SortFunc(list, func(a, b *known) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
}

// roster is the sessions of an index at one moment.
type roster struct {
	all     map[uint32]*known
	covered []Covered                           // of all of them
	scopes  map[*segment.Segment]*segment.Scope // likewise, of the segments that were looked at
}

func newRoster(all map[uint32]*known) *roster {
	r := &roster{all: maps.Clone(all), scopes: map[*segment.Segment]*segment.Scope{}, covered: make([]Covered, 0, len(all))}
	for _, k := range all {
		r.covered = append(r.covered, k.covered())
	}
	return r
}

func (k *known) covered() Covered {
	n := [2]int{k.logs[0].records, k.logs[1].records}
	return Covered{Ref: k.ref, Messages: n[0], Events: n[1], Indexed: n}
}

// snapshot is what there is to search at one moment. What it names can be read until it is closed,
// whatever is merged meanwhile.
type snapshot struct {
	n        *index
	r        *roster
	segments []*segment.Segment // oldest first
	pinned   []*segment.Segment
	only     *known // the session that is searched; nil: all
	agent    string // whose sessions are searched; "": all
	views    map[*known]*view
	failed   string // why the index cannot be brought up to date

	upTo, all [2]int // of the one session: records that are indexed without a gap, and that there are
	ix        [2]*log.Index
}

// view is a session that has hits in a snapshot.
type view struct {
	k  *known
	x  *session.Session
	ix [2]*log.Index
}

// has reports whether a run is of a session that is searched.
func (s *snapshot) has(r *segment.Run) bool {
	if s.only != nil {
		return r.Of == s.only.number
	}
	k := s.r.all[r.Of]
	return k != nil && (s.agent == "" || k.ref.Agent == s.agent)
}

// known returns the session that segments call by a number.
func (s *snapshot) known(number uint32) *known {
	if s.only != nil {
		return s.only
	}
	return s.r.all[number]
}

// scope returns the records of a segment that are searched.
func (s *snapshot) scope(of *segment.Segment) *segment.Scope {
	if s.only != nil || s.agent != "" || of.Name == "" {
		return segment.NewScope(of, s.has)
	}
	s.n.mu.Lock()
	sc := s.r.scopes[of]
	s.n.mu.Unlock()
	if sc == nil {
		sc = segment.NewScope(of, s.has)
		s.n.mu.Lock()
		s.r.scopes[of] = sc
		s.n.mu.Unlock()
	}
	return sc
}

// The logs that a search walks over.
const (
	bothLogs = iota
	messagesAlone
	eventsAlone
)

// filtered returns the records of sc, which is the scope of a segment, that pass the filters of a
// query on logs and lines, of some logs.
func (s *snapshot) filtered(of *segment.Segment, sc *segment.Scope, q *Query, logs int) *segment.Scope {
	if logs == bothLogs && q.In == "" && q.Range.From == 0 {
		return sc
	}
	in := func(r *segment.Run) bool {
		return s.has(r) && (logs == bothLogs || (logs == eventsAlone) == r.Event) && (q.In == "" || (q.In == short(true)) == r.Event)
	}
	if q.Range.From > 0 {
		return segment.Lines(of, q.Range.From, q.Range.To, in)
	}
	return segment.NewScope(of, in)
}

// covered returns the sessions that are searched, and how many were not read.
func (s *snapshot) covered(late map[uint32]bool) (list []Covered, unread int) {
	if s.only != nil {
		return []Covered{{s.only.ref, s.all[0], s.all[1], s.upTo, s.failed, false}}, 0
	}
	if s.agent == "" && len(late) == 0 {
		return s.r.covered, 0
	}
	for number, k := range s.r.all {
		if s.agent != "" && k.ref.Agent != s.agent {
			continue
		}
		c := k.covered()
		if c.late = late[number]; c.late && c.Messages+c.Events == 0 {
			unread++
			continue
		}
		if c.late {
			c.Failed = s.failed
		}
		list = append(list, c)
	}
	return list, unread
}

// view returns a session that has hits. It returns a viewError if it is there no more.
func (s *snapshot) view(k *known) (*view, error) {
	if v := s.views[k]; v != nil {
		return v, nil
	}
	x := k.x
	if x == nil {
		var err error
		if x, err = s.n.e.store.Session(k.ref); err == nil && k.id != "" && x.ID() != k.id {
			err = segment.Damaged("another session has its name")
		}
		if err != nil {
			return nil, &viewError{k, err}
		}
	}
	v := &view{k: k, x: x}
	if k == s.only {
		v.ix = s.ix
	}
	s.views[k] = v
	return v, nil
}

// refOf is where a session is now that has hits.
func (s *snapshot) refOf(k *known) ctxabi.Ref {
	if v, err := s.view(k); err == nil {
		return v.x.Ref()
	}
	return k.ref
}

// index is the index of a log, which has all records of the snapshot.
func (v *view) index(i int, least int) (*log.Index, error) {
	if ix := v.ix[i]; ix != nil && ix.Len() >= least {
		return ix, nil
	}
	ix, err := logOf(v.x, i).Index()
	v.ix[i] = ix
	return ix, err
}

// rowsToLoad returns how many bytes the rows take that a search of s reads.
func (s *snapshot) rowsToLoad() (n int64) {
	for _, of := range s.segments {
		if of.Rows.Load() == nil && (s.only == nil || slices.ContainsFunc(of.Runs, func(r segment.Run) bool { return s.has(&r) })) {
			n += int64(of.N) * segment.RowSize
		}
	}
	return n
}

// close releases the segments; it may be called twice, and on nil.
func (s *snapshot) close() {
	if s == nil || len(s.pinned) == 0 {
		return
	}
	s.n.mu.Lock()
	for _, of := range s.pinned {
		of.Views--
	}
	s.n.mu.Unlock()
	s.pinned = nil
	s.n.removeMerged()
}

// errGone returns the error for a session that was removed.
func errGone() error {
	return ctxabi.E("search", "", ctxabi.ErrNotFound, "the session was removed")
}

// edited returns an error if a log of the session may differ from its records in the index although the
// rows are the same: the file was written to while no daemon served it, and has its old length. Otherwise
// it returns nil.
func (k *known) edited(x *session.Session) error {
	stamps, err := x.Store().Stamps(x.Ref())
	for i := range k.logs {
		if was := k.logs[i].stamp; err == nil && was.Size == stamps[i].Size && was.Modified != stamps[i].Modified && was.Modified != 0 {
			return errors.New(logOf(x, i).Name() + " was written to by somebody else")
		}
	}
	return nil
}

// fitsLogs returns in why how the records of a session in the index differ from its logs, nil if they do
// not, and in err the error of a log that cannot be read.
func (k *known) fitsLogs(x *session.Session) (why, err error) {
	for i := range k.logs {
		l, p := logOf(x, i), k.logs[i].inFiles
		if err := l.Open(); err != nil {
			return nil, err
		}
		if p.records == 0 {
			continue
		}
		if p.bytes > l.Len() {
			return fmt.Errorf("%s has %d bytes, and had %d when it was indexed", l.Name(), l.Len(), p.bytes), nil
		}
		if head, err := l.HeadAt(p.bytes); err != nil || head != k.logs[i].head {
			return errors.New(l.Name() + " is not the one that was indexed"), nil
		}
	}
	return nil, nil
}
