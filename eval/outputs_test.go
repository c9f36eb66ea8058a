package eval

import (
	"fmt"
	"strings"
	"testing"
)

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		log             string
		names, messages int
	}{
		"go":       {"=== RUN TestA\n    a_test.go:12: got 3, want 4\n--- FAIL: TestA (0.00s)\nFAIL\n", 1, 1},
		"pytest":   {"    def test_a():\n>       assert 3 == 4\nE       assert 3 == 4\nFAILED tests/test_a.py::test_a - assert 3 == 4\n", 1, 1},
		"unittest": {"FAIL: test_a (tests.TestA)\nTraceback (most recent call last):\nAssertionError: 3 != 4\n", 1, 1},
		"cargo":    {"test a::works ... FAILED\nthread 'a::works' panicked at src/lib.rs:3:5:\n", 1, 1},
		"jest":     {"  ● sum › adds\n    Expected: 4\n    Received: 3\n✕ adds (3 ms)\n", 2, 2},
		"tap":      {"ok 1 - a\nnot ok 2 - b\n", 1, 0},
		"none":     {"ok  all passed\n", 0, 0},
		"no test":  {"ValueError: not a number\n", 0, 0},
	} {
		f := failuresIn(c.log)
		if len(f.names) != c.names || len(f.messages) != c.messages {
			t.Errorf("%s: %q", name, f)
		}
	}
}

// An output of 200 lines; what the agent uses next stands in its first line, in the middle and nowhere.
func TestNeedles(t *testing.T) {
	var log strings.Builder
	for i := range 200 {
		fmt.Fprintf(&log, "checking module number_%d of the whole tree\n", i)
		if i == 100 {
			log.WriteString("--- FAIL: TestMiddle (0.01s)\n    middle_test.go:3: went wrong here\n")
		}
	}
	s := sessionOf(t,
		recordOf("role", "user", "content", "known_before"),
		recordOf("role", "tool", "name", "run", "content", log.String()),
		recordOf("role", "assistant", "content", "I see number_0 and number_110, known_before and never_seen."),
	)
	out, err := s.outputs(newReader(), AllStretches)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 6 {
		t.Fatalf("%+v", out)
	}
	for _, o := range out[:3] {
		if o.Method != HeadAndTail || o.Outputs != 1 || o.Needles != (Mean{0.5, 1}) || o.Names != (Mean{0, 1}) || o.Messages != (Mean{0, 1}) {
			t.Errorf("%+v", o)
		}
	}
}
