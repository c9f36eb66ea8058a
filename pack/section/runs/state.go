package runs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// Bounds of a State.
const (
	maxRuns       = 96
	maxClosed     = 512
	recentRecords = 200 // records after which a failure counts less than later results
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
	for _, old := range s.list {
		switch {
		case old.key == n.key && sameDir(old.dir, n.dir):
			s.follow(n, old)
		case n.ends(old):
			s.close(old)
		case !n.changes(old):
			list = append(list, old)
		}
	}
	if n.makes && n.outcome != failed {
		n.key += "\x00" + strconv.Itoa(n.at)
	}
	if !n.quiet || n.outcome == failed {
		list = append(list, n)
	}
	if len(list) > maxRuns {
		last := 0
		for i, r := range list {
			if r.rank(n.at) > list[last].rank(n.at) {
				last = i
			}
		}
		list = slices.Delete(list, last, last+1)
	}
	s.list = list
}

// follow makes n the next result after old, of the same run.
func (s *State) follow(n, old *run) {
	s.close(old)
	switch {
	case n.outcome == failed && old.outcome == failed && n.name == old.name:
		n.fails = slices.Concat(old.fails, n.fails)
		n.fails = n.fails[max(0, len(n.fails)-maxPlaces):]
	case n.outcome == failed:
	case old.outcome == failed:
		n.failedAt, n.why = old.at, old.said
	case old.outcome != passed && old.outcome != answered:
		n.failedAt, n.why = old.failedAt, old.why
	}
}

// close records that a later result ended or repeated the failures of old.
func (s *State) close(old *run) {
	s.closed = append(slices.Clone(s.closed), old.fails...)
	s.closed = s.closed[max(0, len(s.closed)-maxClosed):]
}

// changes reports whether r, a successful call that acts outside of the workspace, may have changed
// the object of an earlier look-up: r names all ids of the look-up.
func (r *run) changes(lookUp *run) bool {
	if !r.external || !lookUp.lookUp || r.outcome == failed || lookUp.outcome == failed {
		return false
	}
	_, ids, _ := strings.Cut(lookUp.key, "\x00")
	return ids != "" && !slices.ContainsFunc(strings.Split(ids, "\x00"),
		func(id string) bool { return !strings.Contains(r.key, id) })
}

// rank returns the place of the run among others, for a position; lower ranks come first.
func (r *run) rank(at int) int {
	switch {
	case r.outcome == failed && r.at > at-recentRecords:
		return 0
	case r.lookUp:
		return 4
	case r.outcome == failed:
		return 3
	case r.external:
		return 1
	}
	return 2
}

// Lines implements [prefix.Section]: recent failures, calls that act outside of the workspace, other
// results, old failures, and look-ups, each newest first.
func (s *State) Lines(in prefix.LineInput) (lines []prefix.Line) {
	list := slices.Clone(s.list)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b *run) int { return cmp.Compare(a.rank(in.At), b.rank(in.At)) })
	for _, r := range list {
		lines = append(lines, prefix.Line{Name: r.name, Full: r.line(in.Where), Short: r.name + ": " + r.state(in.Where),
			At: r.at, External: r.external, Least: r.lookUp})
	}
	return lines
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
		if r.outcome == failed {
			list = append(list, Failure{r.at, len(r.fails), strings.TrimSuffix(r.name+": "+r.said, ": ")})
		}
	}
	return list
}

// Encode implements [prefix.Section].
func (s *State) Encode(c *coder.Coder) {
	coder.Pointers(c, &s.list, func(r *run) {
		coder.Text(c, &r.key, &r.dir, &r.name, &r.args, &r.exit, &r.said, &r.why)
		coder.List(c, &r.checks, func(check *string) { coder.Text(c, check) })
		coder.List(c, &r.fails, func(at *int) { coder.Number(c, at) })
		coder.Number(c, &r.at, &r.failedAt)
		coder.Number(c, &r.outcome)
		c.Flag(&r.external, &r.makes, &r.lookUp, &r.quiet)
	})
	coder.List(c, &s.closed, func(at *int) { coder.Number(c, at) })
}
