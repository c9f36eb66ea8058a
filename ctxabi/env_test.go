package ctxabi

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseEnv(t *testing.T) {
	for _, c := range []struct {
		text string
		want []EnvVar
		line string
	}{
		{"", nil, ""},
		{"# a comment\n\nA=1\r\n B = x=y \nEMPTY=\n", []EnvVar{{"A", "1"}, {"B", " x=y"}, {"EMPTY", ""}}, ""},
		{`Q="as it is"`, []EnvVar{{"Q", `"as it is"`}}, ""},
		{"A=1\nA=2", []EnvVar{{"A", "1"}, {"A", "2"}}, ""},
		{"A=1\nB\nC=3\n=4", []EnvVar{{"A", "1"}, {"C", "3"}}, "line 2"},
		{"A=1\n=4", []EnvVar{{"A", "1"}}, "line 2"},
		{"A=\x00", nil, "line 1"},
	} {
		got, err := ParseEnv([]byte(c.text))
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, not %q", c.text, got, c.want)
		}
		if (err != nil) != (c.line != "") || err != nil && (!errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.line)) {
			t.Errorf("%q: error %v, expected %q", c.text, err, c.line)
		}
	}
}
