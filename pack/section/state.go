package section

import (
	"cmp"

	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section/runs"
)

// State contains all sections of the records after one position up to another one. A State that
// [States.At] returned does not change.
type State struct {
	from, to int
	open     toolcall.Open
	sections []prefix.Section
}

// newState returns the state of no records after a position.
func newState(from int) *State {
	s := &State{from: from, to: from}
	for _, spec := range sections {
		var one prefix.Section
		if spec.new != nil {
			one = spec.new()
		}
		s.sections = append(s.sections, one)
	}
	return s
}

// clone returns a copy that does not change with the original.
func (s *State) clone() *State {
	copied := *s
	copied.sections = make([]prefix.Section, len(s.sections))
	for i, one := range s.sections {
		if one != nil {
			copied.sections[i] = one.Clone()
		}
	}
	return &copied
}

// apply consumes the next record.
func (s *State) apply(r toolcall.Record) {
	s.to = r.At
	if len(r.Calls) == 0 && len(r.Results) == 0 {
		return
	}
	open, done := s.open.Next(r)
	s.open = open
	for _, one := range s.sections {
		if one == nil {
			continue
		}
		one.Apply(&prefix.Record{At: r.At, Calls: done})
	}
}

// code writes the state, or replaces it by the one that it reads.
func (s *State) code(c *coder.Coder) {
	if c.Reads {
		*s = *newState(0)
	}
	coder.Number(c, &s.from, &s.to)
	s.open.Code(c)
	for _, one := range s.sections {
		if one != nil {
			one.Encode(c)
		}
	}
	if s.from < 0 || s.to < s.from {
		c.Bad = true
	}
}

// Runs returns the section of runs.
func (s *State) Runs() *runs.State {
	for _, one := range s.sections {
		if found, ok := one.(*runs.State); ok {
			return found
		}
	}
	return &runs.State{}
}

// From returns the position after which the state begins.
func (s *State) From() int { return s.from }

// callsOf returns the calls and results of the record at a position. It returns ctxabi.ErrIO if the
// record cannot be read.
func callsOf(m record.Records, at int) (toolcall.Record, error) {
	out := toolcall.Record{At: at}
	if e := m.At(at); e.Len == 0 || record.IsUser(e) {
		return out, nil
	}
	r, err := record.ExcerptOf(m, at)
	if err != nil {
		return out, err
	}
	out.Calls = r.Calls
	for _, a := range r.Answers {
		out.Results = append(out.Results, toolcall.Result{
			Call: a.Call, Tool: cmp.Or(a.Tool, r.Name), Text: a.Text, Exit: r.Exit, Failed: a.Failed, Cut: len(a.Text) >= record.LongText,
		})
	}
	return out, nil
}
