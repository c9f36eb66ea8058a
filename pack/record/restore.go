package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Arguments of a restored call that take more bytes are shortened: each text in them to its first
// bytes.
const (
	restoredBytes     = 600
	restoredTextBytes = 120
)

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
			if short := shortArguments(c.Text, at); short != c.Text {
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

// shortArguments shortens the arguments of a call in the record at an address. The result is an
// object of JSON if anything is cut.
func shortArguments(text string, at Address) string {
	if len(text) <= restoredBytes {
		return text
	}

	v, _ := ReadJSON(text)
	object, ok := v.(map[string]any)
	if !ok {
		return leftOutArguments(at)
	}
	for key, value := range object {
		if s, is := value.(string); is && len(s) > restoredTextBytes {
			object[key] = strings.ToValidUTF8(s[:restoredTextBytes], "") + "… (" + at.Path() + ")"
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil || b.Len() > 2*restoredBytes {
		return leftOutArguments(at)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
