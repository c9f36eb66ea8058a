package section

import (
	"fmt"
	"slices"

	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Bounds of states.
const (
	Window    = 1024 // records that a state looks back at least; it looks back less than twice as many
	maxStates = 32   // states that are kept in memory
	saveEvery = 32   // records after which states are stored again
)

// ReadAhead is the number of records that one build reads for states that later builds need.
const ReadAhead = 16

// States keeps states between builds. Which ones it has changes only the duration of a build. The
// zero States is empty and stores nothing.
type States struct {
	list  []*State // in the order of their use
	store *prefix.Store
}

// StoreIn makes s load and save states in a file, for one version of the renderer.
func (s *States) StoreIn(file prefix.File, renderer int) {
	s.store = prefix.NewStore("states", versionOf(renderer), file)
}

func versionOf(renderer int) string { return fmt.Sprintf("%d renderer %d", version, renderer) }

// Clear removes all states from memory.
func (s *States) Clear() { s.list = nil }

// From returns the position after which the states of a generation begin, by the position of the
// record that caused its major compaction.
func From(major int) int { return max(0, major/Window-1) * Window }

// At returns the state of the records after from up to to. It continues the longest known prefix, and
// some records of the state that begins one window later, so that moving on to that window reads
// little. It returns ctxabi.ErrIO if a record cannot be read.
func (s *States) At(m record.Records, from, to int) (*State, error) {
	best, next := s.newest(from, to), s.newest(from+Window, to)
	begun := best.to
	if begun == to {
		return best, nil
	}
	along := next.to == begun || to-begun <= ReadAhead
	best, next = best.clone(), next.clone()
	for best.to < to {
		r, err := callsOf(m, best.to+1)
		if err != nil {
			return best, err
		}
		if along && next.to == best.to {
			next.apply(r)
		}
		best.apply(r)
	}
	for range ReadAhead {
		if next.to >= to {
			break
		}
		r, err := callsOf(m, next.to+1)
		if err != nil {
			return best, err
		}
		next.apply(r)
	}
	s.keep(next)
	s.keep(best)
	return best, nil
}

// Reaches reports whether a state after from is known that ends between first and last.
func (s *States) Reaches(from, first, last int) bool { return s.newest(from, last).to >= first }

// Prepare applies some of the records after from up to to that no build has read.
func (s *States) Prepare(m record.Records, from, to int) {
	if known := s.newest(from, to); known.to < to {
		s.At(m, from, min(to, known.to+ReadAhead)) // a later build reports a record that cannot be read
	}
}

// newest returns the longest known state after from that does not go beyond to.
func (s *States) newest(from, to int) *State {
	var best *State
	for _, known := range s.list {
		if known.from == from && known.to <= to && (best == nil || known.to >= best.to) {
			best = known
		}
	}
	if best == nil {
		return newState(from)
	}
	return best
}

// keep adds a state, and removes old ones.
func (s *States) keep(one *State) {
	if one.to == one.from {
		return
	}
	s.list = append(slices.DeleteFunc(s.list, func(known *State) bool { return known.from < one.from-2*Window }), one)
	if over := len(s.list) - maxStates; over > 0 {
		s.list = slices.Delete(s.list, 0, over)
	}
}

// Save stores the newest states of records of m if many records came since the last time. It returns
// an error if they cannot be stored.
func (s *States) Save(m record.Records) error {
	at := s.store.At()
	newest := map[int]*State{} // by the position after which they begin
	for _, one := range s.list {
		if known := newest[one.from]; one.to <= m.Len() && (known == nil || one.to > known.to) {
			newest[one.from] = one
			at = max(at, one.to)
		}
	}
	if s.store == nil || at < s.store.At()+saveEvery || record.UnreadSoFar(m) > 0 {
		return nil
	}

	var list []*State
	for _, one := range newest {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b *State) int { return b.from - a.from })
	list = list[:min(len(list), 2)] // the one in use, and the one of the next window
	c := &coder.Coder{}
	coder.Pointers(c, &list, func(one *State) { one.code(c) })
	return s.store.Save(m, at, c.Data)
}

// Restore loads the stored states if they belong to a prefix of m.
func (s *States) Restore(m record.Records) {
	if data, at, ok := s.store.Load(m); ok {
		if list, ok := decode(data, at); ok {
			s.list = list
		}
	}
}

func decode(data []byte, at int) (list []*State, ok bool) {
	c := &coder.Coder{Data: data, Reads: true}
	coder.Pointers(c, &list, func(one *State) {
		if one.code(c); one.to > at {
			c.Bad = true
		}
	})
	return list, !c.Bad && len(c.Data) == 0
}

// Check returns an error if data is not what [States.Save] stores.
func Check(data []byte, renderer int) error {
	return prefix.Check("states", versionOf(renderer), data, func(state []byte, at int) bool {
		_, ok := decode(state, at)
		return ok
	})
}
