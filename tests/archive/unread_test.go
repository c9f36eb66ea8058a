package archive

import (
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// rot damages a few bytes of the only sealed part of a session's messages, while nothing is mounted.
func rot(t *testing.T, s *harness.Session, at int64) {
	t.Helper()
	f, err := os.OpenFile(parts(t, s)[0], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, 8), at); err != nil {
		t.Fatal(err)
	}
}

// aged is a session of which many records are sealed and a few are not; its pack, notes and nodes were read before.
func aged(t *testing.T, m *harness.Mount) *harness.Session {
	t.Helper()
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Write("context/budget", "20000\n")
	for i := 0; i < 2600; i += 260 {
		s.Append("messages.jsonl", talk(i, 260))
		s.Read("context/pack.md") // it compacts at times
	}
	archive(s)
	s.Append("messages.jsonl", talk(2600, 6))
	s.Read("context/pack.md")
	return s
}

// What needs a record that cannot be read shows a few words in its place, and goes on.
func TestADamagedFrameCostsNoPackAndNoNotes(t *testing.T) {
	for name, fresh := range map[string]bool{"with what was kept": false, "without the caches of packs": true} {
		t.Run(name, func(t *testing.T) {
			m := harness.Start(t, harness.Options{})
			s := aged(t, m)
			if !fresh {
				s.Bash("cat context/facts.jsonl context/summary.md context/swap/index.jsonl context/dedup/index.jsonl").OK()
			}
			m.Stop()
			rot(t, s, 2000)
			m.Restart()
			for _, file := range []string{"pack.md", "pack.json", "pack.openai.json", "pack.anthropic.json", "pack.gemini.json", "pack.genai.json",
				"at/2000/pack.md", "at/1/pack.md", "at/3/pack.openai.json", "facts.jsonl", "decisions.jsonl", "summary.md", "todo.md", "refs.jsonl", "swap/index.jsonl", "dedup/index.jsonl"} {
				if r := s.Bash("cat context/" + file); r.Code != 0 {
					t.Errorf("%s: %s", file, r.Stderr)
				}
			}
			for _, file := range []string{"pack.md", "pack.openai.json", "pack.anthropic.json", "at/1/pack.md"} {
				if got := s.Read("context/" + file); !strings.Contains(got, "[record 1 cannot be read: what is stored of it is damaged]") {
					t.Errorf("%s is %.600q", file, got)
				}
			}
			if got := s.Read("context/pack.md"); !strings.Contains(got, "## 1 user\n[record 1") || !strings.Contains(got, "answer 2603") {
				t.Errorf("the pack is %.900q", got)
			}
			if got := s.Read("context/pack.report.md"); !strings.Contains(got, "\nrecords that cannot be read, since what is stored of them is damaged: 1") {
				t.Errorf("the report is %.400q", got)
			}
			if r := s.Bash("cat context/line/1"); r.Code == 0 || !strings.Contains(r.Stderr, "Input/output error") {
				t.Errorf("line 1: %d %.80q %s", r.Code, r.Stdout, r.Stderr)
			}
			s.Append("messages.jsonl", talk(2606, 2))
			if got := s.Read("context/pack.md"); !strings.Contains(got, "answer 2607") {
				t.Error("a pack that comes later lacks what was appended")
			}
		})
	}
}

// A search finds what can be read, and promises no more than that.
func TestADamagedFrameCostsNoSearch(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Append("messages.jsonl", talk(0, 1300))
	s.Append("messages.jsonl", harness.Message("user", "the heliotrope wallaby"))
	s.Append("messages.jsonl", talk(1301, 1300))
	archive(s)
	m.Stop()
	rot(t, s, 2000)
	m.Restart()
	got := ""
	harness.Eventually(t, "the index", func() bool {
		got = s.Read("context/search/heliotrope")
		return !strings.HasPrefix(got, "# incomplete: the index is still being made")
	})
	if !strings.HasPrefix(got, "# 1 of 1 records") || !strings.Contains(got, "messages:1301 user") {
		t.Errorf("the search gives\n%s", got)
	}
}
