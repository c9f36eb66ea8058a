package truth

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// openFile lists the cases that the present prompt does not satisfy, one name per line.
const openFile = "testdata/open.txt"

// In trueChanges cases of change/ the user changes a statement. The prompt must mark it in at least
// minRecognized of them.
const (
	trueChanges   = 20
	minRecognized = 12
)

// The prompt of each story contains the required texts and none of the forbidden ones.
func TestCases(t *testing.T) {
	cases, err := Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 150 {
		t.Fatalf("found %d cases, want at least 150", len(cases))
	}
	data, err := os.ReadFile(openFile)
	if err != nil {
		t.Fatal(err)
	}
	open := strings.Fields(string(data))
	if !slices.IsSorted(open) {
		t.Errorf("%s is not sorted", openFile)
	}

	m := harness.Start(t, harness.Options{})
	failed, changes, recognized := 0, 0, 0
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			wrong, err := c.Findings(prompt(t, m, c))
			if err != nil {
				t.Fatal(err)
			}
			listed := slices.Contains(open, c.Name)
			switch {
			case len(wrong) > 0 && !listed:
				t.Errorf("%s\n%s", c.About, strings.Join(wrong, "\n"))
			case len(wrong) == 0 && listed:
				t.Errorf("the prompt satisfies this case now: remove it from %s", openFile)
			}
			if c.Change() {
				changes++
				if !slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, "marked as changed") }) {
					recognized++
				}
			}
			if len(wrong) > 0 {
				failed++
				t.Logf("open: %s", strings.Join(wrong, "; "))
			}
		})
	}
	t.Logf("%d of %d cases are open", failed, len(cases))
	t.Logf("recognized %d of %d true changes", recognized, trueChanges)
	if changes >= minRecognized && recognized < minRecognized {
		t.Errorf("want at least %d recognized changes", minRecognized)
	}
	for _, name := range open {
		if !slices.ContainsFunc(cases, func(c *Case) bool { return c.Name == name }) {
			t.Errorf("%s names %s, which does not exist", openFile, name)
		}
	}
}

// prompt appends the story to a new session, reads the prompt after each chunk, and returns the
// last one.
func prompt(t *testing.T, m *harness.Mount, c *Case) Prompt {
	t.Helper()
	chunks, err := c.chunks()
	if err != nil {
		t.Fatal(err)
	}
	s := m.NewSession(t)
	s.Write("context/budget", strconv.Itoa(c.Budget))

	p := Prompt{Bodies: map[string]string{}}
	for _, chunk := range chunks {
		s.Append("messages.jsonl", chunk)
		p.Markdown = s.Read("context/pack.md")
	}
	p.Marks = s.Marks()
	for _, format := range []string{"openai", "anthropic", "responses", "gemini"} {
		p.Bodies[format] = s.Read("context/pack." + format + ".json")
	}
	return p
}
