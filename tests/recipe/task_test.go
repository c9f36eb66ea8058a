package recipetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Memories, knowledge and playbooks were chosen for the first request until a compaction: what the user asked next found none of them.
func TestMemoryKnowledgeAndPlaybooksFollowTheLastRequest(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	for i, word := range []string{"billing", "parcels", "fonts", "tides"} {
		s.put(fmt.Sprintf("home/memory/%d.md", i), "About "+word+": remembered "+word+".\n")
		s.put(fmt.Sprintf("home/knowledge/%d.md", i), "# The guide\n\nKnown of "+word+".\n")
		s.put(fmt.Sprintf("home/playbooks/%d.md", i), "---\nname: "+word+"\nwhen: the task is about "+word+"\n---\nPlayed for "+word+".\n")
	}
	for _, word := range []string{"billing", "tides", "fonts"} {
		s.say("user", "Now look at "+word+", please.")
		b := s.pack()
		for block, want := range map[string]string{"memory": "remembered ", "knowledge": "Known of ", "playbook": "Played for "} {
			if text := b.block(block); !strings.Contains(text, want+word) {
				t.Errorf("asked about %s, %s is\n%s", word, block, text)
			}
		}
		if past, _, _ := strings.Cut(b.md, "# Context Block: conversation"); strings.Contains(past, "remembered") {
			t.Errorf("memories stand before the conversation:\n%s", b.md)
		}
		s.say("assistant", "Done.")
	}
}

// The report said of a source before the journal that its condition does not hold, which anybody could see was false.
func TestTheReportSaysWhichRequestDecidesBeforeTheJournal(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/api.md", "The interface.\n")
	const early = "sources:\n  - {type: file, path: api.md, condition: {when: task_contains, pattern: REST}}\n  - {type: journal}\n"
	s.recipe(early)
	s.say("user", "Tidy the readme.")
	s.say("user", "Now add a REST endpoint.")
	const reason = `the condition holds for the last request alone: task_contains "REST"; before the journal the first request decides until a compaction, after it the last one`
	if b := s.pack(); strings.Contains(b.md, "The interface.") || len(b.Omitted) == 0 || b.Omitted[0].Reason != reason {
		t.Errorf("left out: %+v", b.Omitted)
	}
	if report := s.Read("context/pack.report.md"); !strings.Contains(report, "before the journal the first request decides") {
		t.Errorf("the report:\n%s", report)
	}
	if said := s.cli("recipe", "check", s.path("home/context.yaml")); said.Code != 0 || !strings.Contains(said.Stdout+said.Stderr, "before the journal it looks at the first request") {
		t.Errorf("recipe check:\n%s%s", said.Stdout, said.Stderr)
	}
	s.recipe("sources:\n  - {type: journal}\n  - {type: file, path: api.md, condition: {when: task_contains, pattern: REST}}\n")
	if b := s.pack(); !strings.Contains(b.md, "The interface.") {
		t.Errorf("after the journal:\n%s", b.md)
	}
}
