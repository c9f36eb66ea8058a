package formats

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// Of a key that comes twice in an object the first value was dropped, and nobody was told.
func TestAKeyThatStandsTwiceIsReported(t *testing.T) {
	for doc, want := range map[string][]string{
		`{"a":1,"a":2}`: {`line 1: the key "a" appears twice in one object; the last value counts`},
		"{\"a\":{\"b\":1,\n\"b\" : 2},\n\"c\":[{\"b\":1,\"b\":2}]}":             {`2 times, first in line 2: the key "b" appears twice in one object; the last value counts`},
		`{"a":{"a":1},"b":[{"a":1},{"a":2}]}`:                                   nil,
		`{"a":"a","b":"\"b\":{","c":["a","a"]}`:                                 nil,
		"{\"a\":1}\n{\"a\":2}\n":                                                nil,
		"{\"a\":\"torn\n{\"a\":2,\"b\":3}\n":                                    nil,
		"}]}\"a\":1,\"a\":2":                                                    nil,
		strings.Repeat("[", 5000) + `{"a":1,"a":2}` + strings.Repeat("]", 5000): nil, // nobody has such a transcript
	} {
		tw := &adapter.Twice{R: iotest.OneByteReader(strings.NewReader(doc)), Line: 1}
		if data, err := io.ReadAll(tw); err != nil || string(data) != doc {
			t.Fatalf("%s is read as %s, %v", doc, data, err)
		}
		var got []string
		tw.Found.Report(func(l adapter.Loss) { got = append(got, l.Where+": "+l.What) })
		if !slices.Equal(got, want) {
			t.Errorf("%.80s: %q, want %q", doc, got, want)
		}
	}
	var k adapter.KeysOf
	for i := range 100 {
		key := strings.Repeat("k", i)
		if k.Has([]byte(key)) || !k.Has([]byte(key)) {
			t.Fatalf("key %d of many", i)
		}
	}
}
