package packtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const replayBudget = 8000

// Every real session, message by message, the pack read after each.
func TestReplayOfRealSessions(t *testing.T) {
	t.Parallel()
	step := suite.Pick(t, 16, 1) // from one session to the next
	files, err := filepath.Glob(filepath.Join(harness.TestData(t), "sessions/*/*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	var some []string
	for i := step / 2; i < len(files); i += step {
		some = append(some, files[i])
	}
	files = some
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	m := harness.Start(t, harness.Options{Args: []string{"--budget", fmt.Sprint(replayBudget)}})
	all := make([]*harness.Session, len(files))
	t.Run("sessions", func(t *testing.T) {
		for i, file := range files {
			set := filepath.Base(filepath.Dir(file))
			t.Run(set+"/"+strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
				t.Parallel()
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				all[i] = m.Session(t, harness.Self(), strings.ReplaceAll(set, "_", "-"), fmt.Sprintf("s%d", i))
				replay(t, all[i], counter, bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")))
			})
		}
	})
	if t.Failed() {
		return
	}
	// After a restart, and from the store without the mount, the same bytes.
	type outputs struct{ md, json, report string }
	look := func(s *harness.Session) outputs {
		return outputs{s.Read("context/pack.md"), s.Read("context/pack.json"), s.Read("context/pack.report.md")}
	}
	before := make([]outputs, len(all))
	for i, s := range all {
		before[i] = look(s)
		if i%12 == 0 {
			cli := func(format string) string {
				return m.CLI(t, "pack", "--store", m.Store, "--format", format, s.Ref()).OK()
			}
			if (outputs{cli("md"), cli("json"), cli("report")}) != before[i] {
				t.Errorf("%s: ctxfs pack gives other bytes than the mount", s.Ref())
			}
		}
	}
	m.Restart()
	for i, s := range all {
		after := look(s)
		if after.md != before[i].md || after.json != before[i].json {
			t.Errorf("%s: another pack after a restart", s.Ref())
		}
	}
}

func replay(t *testing.T, s *harness.Session, counter *tokens.Counter, records [][]byte) {
	const pin = "# Rules\nNever delete the ledger.\n```\nkeep()\n```\n"
	s.Write("context/pinned/rules.md", pin)
	log, err := os.OpenFile(s.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var last built
	var user string // the last user message
	userLine, kept := 0, 0
	for i, rec := range records {
		line := i + 1
		rec = append(bytes.TrimSuffix(rec, []byte("\n")), '\n')
		if _, err := log.Write(rec); err != nil {
			t.Fatalf("message %d: %v", line, err)
		}
		if m := ctxabi.DecodeMessage(bytes.TrimSuffix(rec, []byte("\n"))); m.Role == ctxabi.User {
			user, userLine = m.Text, line
		}
		b := read(t, s)
		if n := counter.Count(b.md); n != b.Tokens || n > replayBudget {
			t.Errorf("message %d: %d tokens by exact count, %d by pack.json, budget %d", line, n, b.Tokens, replayBudget)
		}
		b.account(t, line)
		if !strings.Contains(b.md, pin) {
			t.Errorf("message %d: the pin is not in the pack", line)
		}
		if userLine > 0 && !strings.Contains(b.md, user) && !b.cut(userLine) {
			t.Errorf("message %d: the last user message, %d, is not in the pack", line, userLine)
		}
		if i > 0 && last.continues(t, b) {
			kept++
		}
		if last = b; t.Failed() {
			t.Fatalf("stopped at message %d of %d", line, len(records))
		}
	}
	if got, err := os.ReadFile(s.Path("messages.jsonl")); err != nil || len(bytes.Split(got, []byte("\n")))-1 != len(records) {
		t.Errorf("the log: %d bytes, %v", len(got), err)
	}
	if last.Compactions > 0 && kept < len(records)/2 {
		t.Errorf("the prefix was kept in %d of %d steps only", kept, len(records))
	}
	t.Logf("%d messages, %d compactions, prefix kept in %d steps, %d tokens at the end", len(records), last.Compactions, kept, last.Tokens)
}
