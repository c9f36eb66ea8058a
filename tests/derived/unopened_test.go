package derivedtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// What stands in the place of a file of the events' log, once the file was moved away.
var inItsPlace = map[string]func(file, away string) error{
	"a directory": func(file, _ string) error { return os.Mkdir(file, 0o700) },
	"a link":      func(file, away string) error { return os.Symlink(away, file) },
}

func TestEventsThatCannotBeOpenedCostNoPack(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	type damaged struct {
		*harness.Session
		what, on, away string
		put            func(file, away string) error
	}
	var all []damaged
	for _, file := range []string{"events.jsonl", ".ctxfs/arrivals.events"} {
		for what, put := range inItsPlace {
			for _, used := range []bool{false, true} {
				s := m.Session(t, harness.Self(), "coder", fmt.Sprintf("s%d", len(all)))
				add(s, "one")
				s.Append("events.jsonl", `{"type":"tool_call","id":"c1","name":"look","arguments":"{}"}`+"\n"+`{"type":"tool_result","id":"c1","output":"seen by an event"}`+"\n")
				add(s, "two")
				if used {
					s.Read("context/pack.md")
				}
				d := damaged{s, fmt.Sprintf("%s is %s, its pack was read: %v", file, what, used), filepath.Join(s.InStore(), file), filepath.Join(m.Store, s.Name+" away"), put}
				all = append(all, d)
			}
		}
	}
	m.Stop()
	for _, d := range all {
		if err := os.Rename(d.on, d.away); err != nil {
			t.Fatal(err)
		}
		if err := d.put(d.on, d.away); err != nil {
			t.Fatal(err)
		}
	}
	m.Restart()
	for _, s := range all {
		t.Run(s.what, func(t *testing.T) {
			add(s.Session, "three")
			for _, file := range []string{"latest.md", "context/pack.md", "context/pack.json", "context/pack.report.md", "context/pack.openai.json", "context/pack.anthropic.json", "context/at/2/pack.md",
				"context/facts.jsonl", "context/todo.md", "context/summary.md", "context/line/2", "context/swap/index.jsonl", "context/dedup/index.jsonl"} {
				if _, err := os.ReadFile(s.Path(file)); err != nil {
					t.Error(err)
				}
			}
			if pack := s.Read("context/pack.md"); !strings.Contains(pack, "one") || !strings.Contains(pack, "three") || strings.Contains(pack, "seen by an event") {
				t.Errorf("the pack is %q", pack)
			}
			if report := s.Read("context/pack.report.md"); !strings.Contains(report, "\nevents.jsonl cannot be opened, and nothing of it is in this pack; the reason is in context/errors.jsonl\n") {
				t.Errorf("the report is %.400q", report)
			}
			if json := s.Read("context/pack.json"); !strings.Contains(json, `"reason": "it cannot be opened, see context/errors.jsonl"`) {
				t.Errorf("pack.json is %s", json)
			}
			rows := s.Errors()
			if len(rows) != 1 || rows[0].Path != "events.jsonl" || rows[0].Errno != "EIO" || !strings.Contains(rows[0].Reason, "the log cannot be opened") {
				t.Errorf("errors.jsonl is %v", rows)
			}
			if err := os.Remove(s.on); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(s.away, s.on); err != nil {
				t.Fatal(err)
			}
			add(s.Session, "four")
			pack := s.Read("context/pack.md")
			if one, event, two := strings.Index(pack, "one"), strings.Index(pack, "seen by an event"), strings.Index(pack, "two"); one < 0 || event < one || two < event || !strings.Contains(pack, "four") {
				t.Errorf("the pack with its events again is %q", pack)
			}
		})
	}
	m.Stop()
	m.CLI(t, "verify", "--store", m.Store).OK()
}

func add(s *harness.Session, text string) {
	s.Append("messages.jsonl", harness.Message("user", text))
}
