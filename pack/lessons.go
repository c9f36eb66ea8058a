package pack

import (
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/record"
)

// openErrors returns the failures that events report and that nothing made up for since, oldest first,
// and the positions of the results that they are about. A failure of a call is told with its reason.
// Without the outcomes of the history, because a record cannot be read, it returns all failures.
func (y *layout) openErrors() (open []blocks.ErrorEvent, at map[int]bool) {
	if len(y.in.Errors) == 0 {
		return nil, nil
	}
	o, err := y.memo.Outcomes(y.history, y.clock)
	if err != nil {
		return y.in.Errors, nil
	}
	at = map[int]bool{}
	for _, e := range y.in.Errors {
		result := record.Address{Line: e.Line, Event: true}
		if e.Message > 0 {
			result = record.Address{Line: e.Message}
		}
		place := record.PositionIn(y.history, result)
		if place > 0 && (o.Closed[place] || place <= o.From) {
			continue
		}
		if text := o.TextAt(place); text != "" {
			e.Text, at[place] = text, true
		}
		open = append(open, e)
	}
	return open, at
}
