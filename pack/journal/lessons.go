package journal

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section/runs"
)

// Lessons are failures that nothing made up for since. The goal lists those of the last turns, so
// that an agent does not repeat an attempt that it no longer sees; recall does not quote failures
// that are over.
const (
	LessonTurns  = 3   // requests of the user, the last of which begins the current turn
	lessonWindow = 256 // records
	PlainSight   = 8   // newest records, which every agent still sees
	maxLessons   = 5
)

// Lessons returns a line for each failure of the last turns, the newest first, without those at the
// positions in known.
func (mm *Memo) Lessons(m record.Records, f *Fold, known map[int]bool) (lines []string, err error) {
	n := m.Len()
	from := max(1, n-lessonWindow+1)
	for at, turns := n, 0; at > from && turns < LessonTurns; at-- {
		if record.IsUser(m.At(at)) {
			if turns++; turns == LessonTurns {
				from = at
			}
		}
	}

	o, err := mm.Outcomes(m, f)
	for _, one := range o.Open {
		if one.At < from || one.At > n-PlainSight || known[one.At] || len(lines) == maxLessons {
			continue
		}
		line := record.OneLine(one.Text) + " (" + record.AddressOf(m, one.At).Source()
		switch {
		case one.Times == 2:
			line += ", twice"
		case one.Times > 2:
			line += fmt.Sprintf(", %d times", one.Times)
		}
		lines = append(lines, line+")")
	}
	return lines, err
}

// Outcomes are the failures among the records after From.
type Outcomes struct {
	From   int            // position after which they were looked for
	Open   []runs.Failure // that nothing made up for, the newest first
	Closed map[int]bool   // positions of those that a later result ended or repeated
}

// TextAt returns the text of the open failure whose last result is at a position; "" for none.
func (o *Outcomes) TextAt(at int) string {
	for _, f := range o.Open {
		if f.At == at {
			return f.Text
		}
	}
	return ""
}

// Outcomes returns the failures of a history. It returns ctxabi.ErrIO if a record cannot be read.
func (mm *Memo) Outcomes(m record.Records, f *Fold) (Outcomes, error) {
	s, err := mm.sectionsUpTo(m, f, m.Len())
	if err != nil {
		return Outcomes{}, err
	}
	return Outcomes{s.From(), s.Runs().Failures(), s.Runs().Closed()}, nil
}

// BothEnds returns n bytes of each end of a text, or all of it; it keeps nothing else alive.
func BothEnds(text string, n int) (short string, whole bool) {
	if len(text) <= 2*n {
		return strings.Clone(text), true
	}
	return strings.ToValidUTF8(text[:n], "") + "\n" + strings.ToValidUTF8(text[len(text)-n:], ""), false
}
