package journal

import (
	"context"

	"github.com/ctxfs/ctxfs/pack/record"
)

// A history that needs a tighter fold than before needs one from its first record on. It is made before it is needed, behind the readers'
// backs.

const (
	leastAhead = 32 << 10 // places of a history below which a fold is made when it is needed
	aheadSteps = 2        // tighter folds that there are of a longer one
)

// Ahead is folds that are made before they are needed.
type Ahead struct {
	space Space
	m     record.Records
	own   *Memo
	rules []Rules
}

// Ahead returns those of the steps behind step that are still to be made of m; nil: none.
func (mm *Memo) Ahead(m record.Records, p Policy, step int) *Ahead {
	if m.Len() < leastAhead {
		return nil
	}
	a := &Ahead{space: mm.space, m: m}
	for k := step + 1; k <= min(step+aheadSteps, PromiseStep); k++ {
		if rules := p.Rules(mm.space, k); mm.folds[rules] == nil && !mm.ahead[rules] {
			mm.ahead[rules] = true // once: a record that cannot be read keeps it from being made
			a.rules = append(a.rules, rules)
		}
	}
	if len(a.rules) == 0 {
		return nil
	}
	a.own = NewMemo()
	a.own.space, a.own.Summaries = mm.space, mm.Summaries
	return a
}

// Make makes them. It returns the error of ctx when that ends.
func (a *Ahead) Make(ctx context.Context) error {
	for _, rules := range a.rules {
		a.own.foldUpTo(ctx, a.m, rules)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Adopt takes what a has made, unless it is of another space than mm is now.
func (mm *Memo) Adopt(a *Ahead) {
	if mm.space != a.space {
		return
	}
	for rules, f := range a.own.folds {
		if mm.folds[rules] == nil {
			mm.folds[rules] = f
		}
	}
}
