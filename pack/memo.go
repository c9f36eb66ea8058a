package pack

import (
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recall"
)

// Memo holds what one build may reuse of the builds before it. Nothing in it
// changes what a build is, only how long it takes.
type Memo struct {
	*recall.Memo
	Corpora *blocks.Corpora

	messages, tools int // that the last build knew
	last            drafted
}

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	return &Memo{Memo: recall.NewMemo(journal.NewMemo()), Corpora: blocks.NewCorpora()}
}

// follow forgets what does not hold for in any more. A history grows at its
// end; only where the end of a log was lost with the power, an event can come
// to stand in front of messages that were there before it.
func (mm *Memo) follow(in *Input) {
	if len(in.Tools) > mm.tools && int(in.Tools[mm.tools].After) < mm.messages {
		mm.Clear()
	}
	mm.messages, mm.tools = in.Messages.Len(), len(in.Tools)
}

// SaveFolds keeps what the pack of in was folded to, where mm has a store for it. The folds are those of one record fewer, since that
// is where the next build begins, too. It returns an error when they are not kept.
func (in *Input) SaveFolds(mm *Memo) error {
	less, ok := in.before()
	if !ok {
		return nil
	}
	return mm.Save(less.History())
}
