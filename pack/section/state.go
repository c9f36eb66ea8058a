package section

import (
	"cmp"
	"slices"

	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section/runs"
)

// State contains all sections of a history up to one position: of its first records, and of the
// records after another position. A State that [States.At] returned does not change.
type State struct {
	from, to int
	unread   int  // the first record that could not be read; 0: none
	pinned   bool // see States.Pin
	open     toolcall.Open
	sections []prefix.Section
}

// newState returns the state of no records.
func newState() *State {
	s := &State{}
	for _, spec := range sections {
		if spec.new != nil {
			s.sections = append(s.sections, spec.new())
		}
	}
	return s
}

// clone returns a copy that does not change with the original.
func (s *State) clone() *State {
	copied := *s
	copied.pinned = false
	copied.sections = make([]prefix.Section, len(s.sections))
	for i, one := range s.sections {
		copied.sections[i] = one.Clone()
	}
	return &copied
}

// next returns the position of the record that the state consumes next.
func (s *State) next() int {
	if s.to == First {
		return max(s.to, s.from) + 1
	}
	return s.to + 1
}

// apply consumes the next record.
func (s *State) apply(r *prefix.Record) {
	s.to = r.At
	r.Calls = nil
	if calls := callsOf(r); len(calls.Calls) > 0 || len(calls.Results) > 0 {
		s.open, r.Calls = s.open.Next(calls)
	}
	for _, one := range s.sections {
		one.Apply(r)
	}
}

// code writes the state, or replaces it by the one that it reads.
func (s *State) code(c *coder.Coder) {
	if c.Reads {
		*s = *newState()
	}
	coder.Number(c, &s.from, &s.to)
	s.open.Code(c)
	for _, one := range s.sections {
		one.Encode(c)
	}
	if s.from < 0 || s.to < 0 {
		c.Bad = true
	}
}

// of returns the section with a type.
func of[T prefix.Section](s *State) (found T) {
	for _, one := range s.sections {
		if section, ok := one.(T); ok {
			return section
		}
	}
	return found
}

// Messages returns the messages of the user, oldest first.
func (s *State) Messages() []*Message { return of[*requests](s).list }

// Message returns the message of the user at a position, or nil.
func (s *State) Message(at int) *Message {
	list := s.Messages()
	i, ok := slices.BinarySearchFunc(list, at, func(w *Message, at int) int { return w.At - at })
	if !ok {
		return nil
	}
	return list[i]
}

// Conclusions returns the conclusions of the assistant, oldest first.
func (s *State) Conclusions() []Conclusion { return of[*conclusions](s).list }

// Runs returns the section of runs.
func (s *State) Runs() *runs.State { return of[*runs.State](s) }

// From returns the position after which the state consumed all records.
func (s *State) From() int { return s.from }

// Unread reports whether the state lacks a record that could not be read.
func (s *State) Unread() bool { return s.unread > 0 }

// read returns the record at a position. It returns ctxabi.ErrIO if the record cannot be read. A
// damaged record is empty.
func read(m record.Records, at int) (*prefix.Record, error) {
	e := m.At(at)
	r := &prefix.Record{At: at, Address: record.AddressOf(m, at), Role: e.Role, User: record.IsUser(e)}
	x, err := record.ExcerptOf(m, at)
	if err != nil {
		return r, err
	}
	if r.Excerpt = x; record.IsUnread(m, at) {
		r.Excerpt = record.Excerpt{Result: x.Result}
	}
	return r, nil
}

// callsOf returns the calls and results of a record.
func callsOf(r *prefix.Record) toolcall.Record {
	out := toolcall.Record{At: r.At}
	if r.User {
		return out
	}
	x := &r.Excerpt
	out.Calls = x.Calls
	for _, a := range x.Answers {
		out.Results = append(out.Results, toolcall.Result{
			Call: a.Call, Tool: cmp.Or(a.Tool, x.Name), Text: a.Text, Exit: x.Exit, Failed: a.Failed, Cut: len(a.Text) >= record.LongText,
		})
	}
	return out
}
