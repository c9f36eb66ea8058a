package section

import (
	"context"
	"fmt"
	"maps"
	"slices"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Bounds of states.
const (
	First     = 512  // records at the beginning of a history that each state contains
	Window    = 4096 // records that a state looks back at least, beside the first; it looks back less than three times as many
	maxStates = 8    // states that are kept in memory, and as many pinned ones
	saveEvery = 128  // records after which states are stored again

	recordBytes = 256 // memory of the sections for one record, about
)

// From returns the position after which the states of a generation contain all records, by the
// position of the record that caused its major compaction. A short history has no gap, and the gap
// of a long one moves in large steps.
func From(major int) int {
	if major <= First+2*Window {
		return 0
	}
	return (major/Window - 1) * Window
}

// States keeps states between builds. Which ones it has changes only the duration of a build. The
// zero States is empty and stores nothing.
type States struct {
	list  []*State // in the order of their use
	store *prefix.Store
	notes noteFold
}

// StoreIn makes s load and save states in a file, for one version of the renderer.
func (s *States) StoreIn(file prefix.File, renderer int) {
	s.store = prefix.NewStore("states", versionOf(renderer), file)
}

func versionOf(renderer int) string {
	return fmt.Sprintf("%d %d renderer %d", version, derived.FindVersion, renderer)
}

// Clear removes all states from memory.
func (s *States) Clear() { s.list, s.notes = nil, noteFold{} }

// At returns the state at a position, with all records after from. It continues the longest known
// state, and the one of the next window with it, so that moving on to that window reads nothing. If
// a record cannot be read, the state lacks it, and At returns ctxabi.ErrIO. At returns the error of
// ctx if that ends.
func (s *States) At(ctx context.Context, m record.Records, from, to int) (state *State, err error) {
	s.list = slices.DeleteFunc(s.list, func(known *State) bool { // a damaged record is whole again
		return known.unread > 0 && !record.IsUnread(m, known.unread)
	})
	best := s.newest(from, to)
	if best.to == to {
		s.use(best)
		return best, nil
	}
	best, next := best.clone(), s.newest(from+Window, to).clone()
	for best.to < to {
		if err := ctx.Err(); err != nil {
			return best, err
		}
		r, failed := read(m, best.next())
		if err == nil {
			err = failed
		}
		if best.unread == 0 && (failed != nil || record.IsUnread(m, r.At)) {
			best.unread = r.At
		}
		if next.next() == r.At && r.At > First {
			next.apply(r)
			next.unread = best.unread
		}
		if best.apply(r); best.to == First && from == 0 && err == nil {
			s.use(best.clone()) // the beginning of each other state
		}
	}
	if err != nil {
		return best, err
	}
	if next.to > First {
		s.use(next)
	}
	s.use(best)
	return best, nil
}

// Pin keeps a state in memory longer than those that only continue others.
func (s *States) Pin(one *State) { one.pinned = true }

// Len returns the position of the longest known state after from up to last.
func (s *States) Len(from, last int) int { return s.newest(from, last).to }

// newest returns the longest known state after from that does not go beyond to.
func (s *States) newest(from, to int) *State {
	best := newState()
	for _, known := range s.list {
		if known.from == from && known.to <= to && known.to >= best.to {
			best = known
		}
	}
	if best.to == 0 && from > 0 && to > First {
		if best = s.newest(0, First).clone(); best.to < First {
			best = newState()
		}
	}
	best.from = from
	return best
}

// use makes a state the one used last. It removes those used longest ago, except the one of the
// first records.
func (s *States) use(one *State) {
	s.list = append(slices.DeleteFunc(s.list, func(known *State) bool {
		return known.from == one.from && known.to == one.to || known.from < one.from-2*Window && known.to != First
	}), one)
	isOld := func(known *State) bool { return known.pinned == one.pinned && known.to != First }
	for count(s.list, isOld) > maxStates {
		oldest := slices.IndexFunc(s.list, isOld)
		s.list = slices.Delete(s.list, oldest, oldest+1)
	}
}

func count(list []*State, is func(*State) bool) (n int) {
	for _, one := range list {
		if is(one) {
			n++
		}
	}
	return n
}

// Save stores the newest states of records of m if many records came since the last time. It returns
// an error if they cannot be stored.
func (s *States) Save(m record.Records) error {
	newest := map[int]*State{} // by the position after which they begin
	for _, one := range s.list {
		if known := newest[one.from]; one.to <= m.Len() && one.unread == 0 && (known == nil || one.to > known.to) {
			newest[one.from] = one
		}
	}
	list := slices.SortedFunc(maps.Values(newest), func(a, b *State) int { return b.to - a.to })
	if s.store == nil || len(list) == 0 || list[0].to < s.store.At()+saveEvery {
		return nil
	}
	list = list[:min(len(list), 2)] // the one in use, and the one of the next window
	if head := s.newest(0, First); list[len(list)-1].from > 0 && head.to == First {
		list = append(list, head)
	}
	c := &coder.Coder{}
	coder.Pointers(c, &list, func(one *State) { one.code(c) })
	return s.store.Save(m, list[0].to, c.Data)
}

// Restore loads the stored states if they belong to a prefix of m.
func (s *States) Restore(m record.Records) {
	if data, at, ok := s.store.Load(m); ok {
		if list, ok := decode(data, at); ok {
			s.list = list
		}
	}
}

// Size returns the approximate number of bytes of memory that s holds.
func (s *States) Size() (n int) {
	for _, one := range s.list {
		size := recordBytes * (one.to - one.from)
		for _, w := range one.Messages() {
			size += w.size()
		}
		n = max(n, size)
	}
	return n
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

// noteFold is the fold of the findings of one state. It is continued for later states.
type noteFold struct {
	from, n int // n: findings that fold contains
	fold    *derived.State
}

// Notes returns the notes of a state. The result is valid until the next call.
func (s *States) Notes(one *State) *derived.State {
	list := of[*findings](one).list
	f := &s.notes
	if f.fold == nil || f.from != one.from || f.n > len(list) {
		*f = noteFold{from: one.from, fold: new(derived.State)}
	}
	for ; f.n < len(list); f.n++ {
		f.fold.Add(list[f.n].Where, list[f.n].Role, list[f.n].Found)
	}
	return f.fold
}
