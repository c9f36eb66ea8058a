package pack

import "github.com/ctxfs/ctxfs/pack/journal"

// SaveFolds keeps what the pack of in was folded to, where mm has a store for it. The folds are those of one record fewer, since that
// is where the next build begins, too. It returns an error when they are not kept.
func (in *Input) SaveFolds(mm *Memo) error {
	less, ok := in.before()
	if !ok {
		return nil
	}
	return mm.Save(less.History())
}

// Ahead returns the folds that a pack of more records than those of in may need and that are still to be made; nil: none. Mm made the
// pack of in last.
func (in *Input) Ahead(mm *Memo) *journal.Ahead {
	return mm.Memo.Ahead(in.History(), mm.policy, mm.step)
}
