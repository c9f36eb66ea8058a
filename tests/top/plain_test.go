package top

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Where there is no terminal, a table is printed.
func TestATableWithoutATerminal(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	tells(t, m, harness.Self(), "coder", "s1", 3, "hello \x1b[31mred\x1b[0m \u202Eturned")
	tells(t, m, harness.Self(), "writer", "s2", 5, "你好 👩\u200d💻")
	for _, args := range [][]string{{}, {"--once"}} {
		said := m.CLI(t, append([]string{"top", "--mount", m.Dir}, args...)...).OK()
		if strings.ContainsAny(said, "\x1b\u202E\u200d") {
			t.Errorf("it prints control characters: %q", said)
		}
		lines := strings.Split(said, "\n")
		if len(lines) != 4 || !regexp.MustCompile(`^SESSION +AGENT +STATE +LAST WORDS +MSGS +TOKENS +CACHE +LAST PROMPTS +CHANGED$`).MatchString(lines[0]) ||
			!regexp.MustCompile(`^s2 +writer +idle +assistant: 你好 👩💻 +5 +not read +(now|\d+ s)$`).MatchString(lines[1]) ||
			!regexp.MustCompile(`^s1 +coder +idle +assistant: hello ⟨U\+001B⟩\[31mred⟨U\+001B⟩\[0m ⟨U\+202E⟩turned +3 +not read +(now|\d+ s)$`).MatchString(lines[2]) {
			t.Errorf("it prints\n%s", said)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--sort", "name", "-n", "1"}, "s1"},
		{[]string{"--sort", "messages", "-n", "1"}, "s2"},
		{[]string{"coder"}, "s1"},
		{[]string{"writer/s2"}, "s2"},
		{[]string{"home"}, "s2"},
		{[]string{"nobody"}, "no such session: nobody (2 sessions in all)"},
	} {
		said := m.CLI(t, append([]string{"top", "--mount", m.Dir}, c.args...)...).OK()
		if _, rows, _ := strings.Cut("\n"+said, "\nSESSION"); !strings.Contains(rows+said, "\n"+c.want+" ") && said != c.want+"\n" {
			t.Errorf("%q prints\n%s", c.args, said)
		}
		if more := strings.Contains(said, "and 1 session more\n"); more != (len(c.args) == 4) {
			t.Errorf("%q prints\n%s", c.args, said)
		}
	}
	if r := m.CLI(t, "top", "--sort", "x"); r.Code != 2 || !strings.Contains(r.Stderr, "activity, tokens, messages, name") {
		t.Errorf("a wrong order: %d %s", r.Code, r.Stderr)
	}
	if r := m.CLI(t, "top", "--mount", t.TempDir()); r.Code != 1 || !strings.Contains(r.Stderr, "ctxfs") {
		t.Errorf("no mount: %d %s", r.Code, r.Stderr)
	}
}

// A user sees the sessions that are his, and root those of all.
func TestAnotherUsersSessionsAreNotSeen(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	tells(t, m, 1000, "coder", "of-1000", 1, "mine")
	tells(t, m, 1001, "coder", "of-1001", 1, "theirs")
	said := m.Run(t, harness.Client{UID: 1000, Argv: []string{harness.Binary(t), "top", "--mount", m.Dir}}).OK()
	if !strings.Contains(said, "of-1000") || strings.Contains(said, "1001") || strings.Contains(said, "theirs") {
		t.Errorf("a user sees\n%s", said)
	}
	said = m.CLI(t, "top", "--mount", m.Dir).OK()
	if !strings.Contains(said, "coder · user 1000") || !strings.Contains(said, "coder · user 1001") {
		t.Errorf("root sees\n%s", said)
	}
}
