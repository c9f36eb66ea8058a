package record

import (
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// restoredTokens is the limit of the arguments of a restored call.
const restoredTokens = 100

// RestoredCalls returns the calls with the given ids of the record at an address, and the thinking
// before them, for a prompt that shows a result without its call. Long arguments are shortened. Nil
// means that there is no such call. It returns errors as [ContentsOf] does.
func RestoredCalls(log Records, at Address, ids []string) ([]Portion, error) {
	role, list, err := ContentsOf(log, at, "", nil, func() int { return 0 })
	if err != nil || role != ctxabi.Assistant {
		return nil, err
	}

	var restored []Portion
	calls := false
	for _, c := range list {
		switch {
		case c.Kind == ThoughtPortion:
		case c.Kind == CallPortion && slices.Contains(ids, c.ID):
			calls = true
			if short, cut := toolcall.Shortened(c.Text, restoredTokens, at.Path()); cut || !compress.Fits(short, restoredTokens) {
				if _, valid := ReadJSON(short); !valid || !cut {
					short = leftOutArguments(at)
				}
				c.Text, c.Raw, c.Broken, c.Halved, c.Extra = short, nil, false, false, 16
			}
		default:
			continue
		}
		restored = append(restored, c)
	}
	if !calls {
		return nil, nil
	}
	return restored, nil
}
