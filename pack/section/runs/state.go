package runs

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// Bounds of a State.
const (
	maxRuns   = 96
	maxClosed = 512
)

// State is the section of runs, in the order of their last results. The zero State is empty.
type State struct {
	list   []*run
	closed []int // positions of failures that a later result ended or repeated, oldest first
}

// New returns an empty State.
func New() prefix.Section { return new(State) }

// Clone implements [prefix.Section].
func (s *State) Clone() prefix.Section {
	return &State{slices.Clone(s.list), slices.Clone(s.closed)}
}

// Apply implements [prefix.Section].
func (s *State) Apply(r *prefix.Record) {
	for i := range r.Calls {
		if d := &r.Calls[i]; !d.Open {
			if one := runOf(d); one != nil {
				s.add(one)
			}
		}
	}
}

// add takes the result of a run.
func (s *State) add(n *run) {
	list := s.list[:0:0]
	repeated := false
	for _, old := range s.list {
		same := old.key == n.key || old.outcome == failed && old.object != "" && old.object == n.object
		switch {
		case same:
			repeated = repeated || !old.quiet
			s.follow(n, old)
			continue
		case old.open() && n.ends(old):
			m := *old
			m.by, m.byAt = n.name, n.at
			s.close(m.fails)
			old = &m
		case n.changes(old):
			continue
		}
		list = append(list, old)
	}
	if !n.quiet || n.outcome == failed || repeated {
		list = append(list, n)
	}
	if len(list) > maxRuns {
		i := slices.IndexFunc(list, func(r *run) bool { return r.lookUp })
		if i < 0 {
			i = max(0, slices.IndexFunc(list, func(r *run) bool { return !r.open() }))
		}
		list = slices.Delete(list, i, i+1)
	}
	s.list = list
}

// follow makes n the next result after old, of the same run.
func (s *State) follow(n, old *run) {
	s.close(old.fails)
	switch {
	case n.outcome == failed:
		if old.open() && n.sameCall(old) {
			n.fails = slices.Concat(old.fails, n.fails)
			n.fails = n.fails[max(0, len(n.fails)-maxPlaces):]
		}
	case old.open():
		n.failedAt, n.why = old.at, old.said
	case old.outcome != passed && old.outcome != answered:
		n.failedAt, n.why = old.failedAt, old.why
	}
}

// sameCall reports whether r repeats old: a call of the same tool, or a command that the name of
// both shows whole.
func (r *run) sameCall(old *run) bool {
	return r.object != "" || r.name == old.name && !strings.Contains(r.name, gap)
}

func (s *State) close(places []int) {
	s.closed = append(slices.Clone(s.closed), places...)
	s.closed = s.closed[max(0, len(s.closed)-maxClosed):]
}

// ends reports whether the result n is a success that ends the failure of another command.
func (r *run) ends(other *run) bool {
	return (r.outcome == passed || r.outcome == exitZero) && r.covers(&other.command)
}

// changes reports whether r, a successful call that acts outside of the workspace, may have changed
// the object of an earlier look-up: r names all ids of the look-up.
func (r *run) changes(lookUp *run) bool {
	if !r.external || !lookUp.lookUp || r.outcome == failed || lookUp.outcome == failed {
		return false
	}
	_, ids, _ := strings.Cut(lookUp.object, "\x00")
	return ids != "" && !slices.ContainsFunc(strings.Split(ids, "\x00"),
		func(id string) bool { return !strings.Contains(r.object, id) })
}

// Closed returns the positions of the failures that a later result ended or repeated.
func (s *State) Closed() map[int]bool {
	closed := make(map[int]bool, len(s.closed))
	for _, at := range s.closed {
		closed[at] = true
	}
	return closed
}

// Failure is a failed run that nothing made up for.
type Failure struct {
	At    int // position of the last result
	Times int // how often it failed since the last success
	Text  string
}

// Failures returns them, the newest first.
func (s *State) Failures() (list []Failure) {
	for _, r := range slices.Backward(s.list) {
		if r.open() {
			text := r.name
			if r.said != "" {
				text += ": " + r.said
			}
			list = append(list, Failure{r.at, len(r.fails), text})
		}
	}
	return list
}

// Encode implements [prefix.Section].
func (s *State) Encode(c *coder.Coder) {
	coder.Pointers(c, &s.list, func(r *run) {
		coder.Text(c, &r.key, &r.object, &r.name, &r.args, &r.dir, &r.exit, &r.said, &r.why, &r.by)
		coder.List(c, &r.words, func(w *string) { coder.Text(c, w) })
		coder.List(c, &r.fails, func(at *int) { coder.Number(c, at) })
		coder.Number(c, &r.at, &r.failedAt, &r.byAt)
		coder.Number(c, &r.outcome)
		c.Flag(&r.external, &r.quiet, &r.reading, &r.lookUp)
	})
	coder.List(c, &s.closed, func(at *int) { coder.Number(c, at) })
}
