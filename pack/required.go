package pack

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// CheckFits checks that what must stand verbatim in the pack of in leaves room for the conversation, once the file called name is as
// it is in in. The history of in is not looked at. It returns ctxabi.ErrOverBudget with the numbers when it does not.
func (in *Input) CheckFits(name string) error {
	if in.Budget == 0 {
		return nil
	}
	only := *in
	only.Messages = noRecords{}
	c, err := tokens.For(in.Encoding)
	if err != nil {
		return err
	}
	y, err := only.layout(NewMemo(), c)
	if err != nil {
		return err
	}
	if l := y.limits; l.limit > 0 && l.required+minJournal > l.limit {
		return ctxabi.E("set", name, ctxabi.ErrOverBudget,
			"what is never cut (the system prompt and pinned/) would take %d of %s, and the conversation needs at least %d; raise %s or shorten it",
			l.required, l.tokens(), minJournal, ctxabi.BudgetFile)
	}
	return nil
}

// noRecords is an empty log.
type noRecords struct{}

func (noRecords) Len() int { return 0 }

func (noRecords) At(int) ctxabi.Entry { return ctxabi.Entry{} }

// Record returns ctxabi.ErrNotFound as an error for every line.
func (noRecords) Record(int) ([]byte, error) { return nil, ctxabi.ErrNotFound }
