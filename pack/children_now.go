package pack

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/record"
)

// childrenNow are the session's children as the history stands. Those that are folded come last.
func (y *layout) childrenNow() (children []blocks.ChildNow) {
	var folded []blocks.ChildNow
	for i := range y.in.Children {
		c := blocks.ChildNow{ChildResult: y.in.Children[i]}
		if c.Folded = c.Finished && y.shownBefore(c.After); c.Folded {
			folded = append(folded, c)
			continue
		}
		children = append(children, c)
	}
	return append(children, folded...)
}

// shownBefore says whether what came when the session had so many messages stood in prompts before the last compaction. Two answers
// stand between: the first may have been on its way already, the second was made from a pack that was read behind it.
func (y *layout) shownBefore(messages int) bool {
	answers := 0
	for at := y.clock.Compacted - 1; at > 0 && answers < 2; at-- {
		a := record.AddressOf(y.history, at)
		if a.Event {
			continue
		}
		if a.Line <= messages {
			return false
		}
		if y.history.At(at).Role == ctxabi.Assistant {
			answers++
		}
	}
	return answers == 2
}
