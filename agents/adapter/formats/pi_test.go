package formats_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
)

func TestPi(t *testing.T) { adaptertest.RunFormat(t, "pi", "testdata/pi") }

func FuzzPi(f *testing.F) { fuzzFormat(f, "pi") }

// The conversation of a session of pi is the path to its last entry.
func TestPiFollowsTheTree(t *testing.T) {
	var s adaptertest.Session
	s.Import(t, format(t, "pi"), "x.jsonl", sample(t, "pi", "hostile-tree.jsonl"))
	got := outline(&s)
	for text, want := range map[string]bool{"A way that is left": false, "The following is a summary of a branch": true, "Ran `ls`": true, "secret": false, "no such call": true, "All that was said": false} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q among the messages: %v, want %v\n%s", text, !want, want, got)
		}
	}
	for _, r := range s.Records {
		if bytes.Contains(r.Line, []byte("A way that is left")) && !bytes.Contains(r.Line, []byte(`"abandoned":true`)) {
			t.Errorf("a branch that was left is not marked: %s", r.Line)
		}
	}
}

// What one program said is said by another: the way through a format and back keeps messages, calls and results.
func TestProgramsTakeWhatOthersSaid(t *testing.T) {
	for _, name := range []string{"gemini", "opencode", "pi"} {
		t.Run(name, func(t *testing.T) {
			var there, back adaptertest.Session
			transcript := regexp.MustCompile(`"signature":"[^"]*"`).ReplaceAll(sample(t, "claude-code", "parallel-calls.jsonl"), []byte(`"signature":""`)) // only pi keeps it
			there.Import(t, format(t, "claude-code"), "x.jsonl", transcript)
			data, _ := there.Export(t, format(t, name))
			if _, lost := back.Import(t, format(t, name), "", data); len(lost) > 0 {
				t.Errorf("losses: %v", lost)
			}
			compareSaid(t, &there, &back)
			again, _ := back.Export(t, format(t, name))
			if diff := adaptertest.CanonicalEqual(data, again); diff != "" {
				t.Errorf("the export of what came back differs: %s", diff)
			}
		})
	}
}
