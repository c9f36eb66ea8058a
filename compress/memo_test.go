package compress

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is remembered of words changes no term, whatever was read before.
func TestTermsAreWhatTheyAreWithoutAMemory(t *testing.T) {
	pieces := strings.Split("a|b|Z|9|the|The|running|runs|stopped|configuration|'s|'t|’s|'|_|-|.|/|:|@|#| |\n|é|É|日本|ก|HTTP|Server|iPhone|X1|\xff|\xe2|\"|abcdefghijklmnop|abcdefghijklmnopq", "|")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "text"), "")
		var want, got []uint64
		for at := 0; at < len(text); { // word by word, each by the rule for any
			from := at
			for at++; at < len(text) && text[at] != ' ' && text[at] != '\n'; at++ {
			}
			r := termReader{emit: func(term termID) { want = append(want, uint64(term)) }, buf: make([]byte, 0, maxWhole)}
			r.read(text[from:at])
		}
		for range 2 {
			got = nil
			Terms(text, func(term uint64) { got = append(got, term) })
			if !slices.Equal(got, want) {
				t.Fatalf("%q: %x, want %x", text, got, want)
			}
		}
	})
}
