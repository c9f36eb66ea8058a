package compress

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPassages(t *testing.T) {
	texts := func(text string, size int) (out []string) {
		for _, p := range Passages(text, size) {
			out = append(out, text[p.From:p.To])
		}
		return out
	}
	for _, c := range []struct {
		text string
		size int
		want []string
	}{
		{"", 10, nil},
		{" one\n two \n", 20, []string{"one\n two"}},
		{"one\ntwo\nthree", 8, []string{"one\ntwo", "three"}},
		{"one\n\ntwo", 40, []string{"one\n\ntwo"}},
		{"one two three\n\nfour", 20, []string{"one two three", "four"}},
		{`write {"text":"first line\nsecond line"}`, 24, []string{`write {"text":"first line`, `second line"}`}},
		{"a\n" + strings.Repeat("x", 300) + "\nb", 400, []string{"a", "b"}},
	} {
		if got := texts(c.text, c.size); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d: %q, want %q", c.text, c.size, got, c.want)
		}
	}
}

// Passages stand in order, apart, and hold each line that EachLine gives.
func TestPassagesHoldAllLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\\n\r\u2028é")), 0, 2000, -1)).Draw(t, "text")
		size := rapid.IntRange(1, 500).Draw(t, "size")
		var of, whole []string
		last := 0
		for _, p := range Passages(text, size) {
			if p.From < last || p.From >= p.To || p.To > len(text) || strings.TrimSpace(text[p.From:p.To]) != text[p.From:p.To] {
				t.Fatalf("%+v behind %d: %q", p, last, text)
			}
			last = p.To
			EachLine(text[p.From:p.To], func(_ int, line string) { of = append(of, line) })
		}
		EachLine(text, func(_ int, line string) { whole = append(whole, line) })
		if !slices.Equal(of, whole) {
			t.Fatalf("%q\n%q", of, whole)
		}
	})
}
