package mcp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// named are the paths in a snippet: what begins at the root, and what has a slash or an ending in it.
var named = regexp.MustCompile(`/[\w/.<>-]+[\w/>]|(?:\.\./|context/)[\w/.<>-]*[\w/>]|\b[\w-]+\.(?:jsonl|md)\b`)

// Every path that the paragraph names exists, and the paragraph is short.
func TestTheSnippetIsTrueAndShort(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Append("messages.jsonl", harness.Message("user", "hello"))
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	for _, remembers := range []bool{false, true} {
		if remembers {
			if err := os.MkdirAll(filepath.Join(s.AgentHome(), "memory"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{{s.Dir}, {"--mount", m.Dir, "coder/s1"}, {s.Dir, "--format", "md"}} {
			r := m.CLI(t, append([]string{"snippet"}, args...)...)
			text := r.OK()
			if n := counter.Count(text); n >= 250 {
				t.Errorf("%q: %d tokens:\n%s", args, n, text)
			}
			if strings.Contains(text, "memory/") != remembers || strings.HasPrefix(text, "## Your memory\n\n") != (len(args) > 2 && args[1] == "--format") {
				t.Errorf("%q:\n%s", args, text)
			}
			paths := named.FindAllString(text, -1)
			if len(paths) < 10 {
				t.Fatalf("only %q are found in\n%s", paths, text)
			}
			for _, p := range paths {
				p = strings.NewReplacer("<n>", "1", "<words>", "hello").Replace(p)
				if !filepath.IsAbs(p) {
					p = s.Path(p)
				}
				if _, err := os.Stat(p); err != nil {
					t.Errorf("%q names what is not there: %v", args, err)
				}
			}
		}
	}
	if r := m.CLI(t, "snippet", "--mount", m.Dir, "coder/none"); r.Code != 1 || !strings.Contains(r.Stderr, "there is no session") {
		t.Errorf("of a session that is not there: %d %s", r.Code, r.Stderr)
	}
	if got := m.CLI(t, "snippet", "--mount", m.Dir).OK(); !strings.HasPrefix(got, "Your memory is files in "+m.Dir+"/home/") || !strings.Contains(got, "/agent/AGENT/session/SESSION:") {
		t.Errorf("of no session:\n%s", got)
	}
}
