package recipetest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// summaryRecipe runs work/sum after each compaction.
const summaryRecipe = `
total_max_tokens: 2500
env: {MARK: "$MARK"}
summarizer: {command: ["$WORK/sum"], timeout_ms: 60000}
sources: [{type: journal}]
`

// compacted appends records, one a pack, until the next compaction, and gives the pack after each.
func (s *stage) compacted() (packs []built) {
	s.t.Helper()
	before := s.pack()
	last := before
	for i := 0; i < 200 && last.Compactions == before.Compactions; i++ {
		s.say([]string{"user", "assistant"}[i%2], fmt.Sprintf("Record %d of it. %s", i, strings.Repeat(fmt.Sprintf("Word%d is said. ", i), 12)))
		now := s.pack()
		if string(now.Epoch) == string(last.Epoch) && !strings.HasPrefix(now.md, last.md[:last.PrefixBytes]) {
			s.t.Errorf("the prefix broke within an epoch:\n%s\n---\n%s", last.md, now.md)
		}
		packs, last = append(packs, now), now
	}
	if last.Compactions == before.Compactions {
		s.t.Fatal("nothing was compacted")
	}
	return packs
}

// says waits until the report of the pack says what.
func (s *stage) says(what string) {
	s.t.Helper()
	says := regexp.MustCompile(`(?m)^- summary: .*` + regexp.QuoteMeta(what))
	defer func() {
		if s.t.Failed() {
			s.t.Logf("the report is\n%s", s.tail("context/pack.report.md"))
		}
	}()
	harness.Eventually(s.t, "the report to say "+what, func() bool { return says.MatchString(s.Read("context/pack.report.md")) })
}

// worksOn waits until a summarizer works, and returns the range of records that it was given, which the report names.
func (s *stage) worksOn() (span string) {
	s.t.Helper()
	works := regexp.MustCompile(`(?m)^- summary: .*the summarizer works on (messages:1-\d+)$`)
	harness.Eventually(s.t, "the summarizer to work", func() bool {
		m := works.FindStringSubmatch(s.Read("context/pack.report.md"))
		if m != nil {
			span = m[1]
		}
		return m != nil
	})
	return span
}

// A summarizer that hangs holds up no reader; what it gives enters at a compaction, and nothing before that changes.
func TestASummaryEntersAtACompactionOnly(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.putBytes("work/sum", "#!/bin/bash\n"+
		"cd \"${0%/*}\"; id -u > uid; cat > given; env > env; echo run >> runs; "+s.gated()+
		"\necho \"- It was said that words are said (${CTX_RANGE%-*}-4).\"\n")
	s.recipe(summaryRecipe)
	s.compacted() // each read of it ends, though nobody opens the gate
	span := s.worksOn()
	first := s.pack()
	packs := s.compacted()
	second := packs[len(packs)-1]
	if strings.Contains(first.md+second.md, "It was said") {
		t.Error("a summary that nobody gave")
	}
	harness.Eventually(t, "the run", func() bool { return s.lines("work/runs") > 0 })
	given, _ := os.ReadFile(s.path("work/given"))
	env, _ := os.ReadFile(s.path("work/env"))
	uid, _ := os.ReadFile(s.path("work/uid"))
	if !strings.HasPrefix(string(given), "[messages:1 user]\nRecord 0 of it. ") || strings.TrimSpace(string(uid)) != fmt.Sprint(s.UID) {
		t.Errorf("as %s it was given\n%.400s", uid, given)
	}
	for _, want := range []string{`CTX_RANGE=` + span, `CTX_SUMMARY_TOKENS=\d+`, `CTX_SESSION=` + regexp.QuoteMeta(s.Dir), `CTX_AGENT=agent\d+`} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).Match(env) {
			t.Errorf("no %s in\n%s", want, env)
		}
	}
	s.pass()
	s.says("version 1 for " + span + " enters at the next compaction")
	if n := s.lines("work/runs"); n > 2 {
		t.Errorf("%d runs", n)
	}
	if now := s.pack(); now.md != second.md || now.PackID != second.PackID {
		t.Errorf("the pack changed:\n%s\n---\n%s", second.md, now.md)
	}
	packs = s.compacted()
	third := packs[len(packs)-1]
	for _, b := range packs[:len(packs)-1] {
		if strings.Contains(b.md, "It was said") {
			t.Fatalf("it stands there before the compaction:\n%s", b.md)
		}
	}
	block := regexp.MustCompile(`(?m)^# Context Block: summary \(messages:1-\d+\)\n` +
		`Version 1, by the recipe's summarizer, of messages:1-\d+:\n` +
		`- It was said that words are said \(messages:1-4\)\.\n`)
	if !block.MatchString(third.md) {
		t.Fatalf("it does not stand there:\n%s\n%s", third.md, s.Read("context/pack.report.md"))
	}
	if !strings.Contains(s.Read("context/pack.report.md"), "- summary: version 1, by the recipe's summarizer, up to ") {
		t.Errorf("the report is\n%s", s.Read("context/pack.report.md"))
	}
	if note := s.Read("context/summary.md"); note != "- It was said that words are said (messages:1-4).\n" {
		t.Errorf("summary.md is\n%s", note)
	}
	// A crash while the next run goes on changes nothing: it is done again, and what was accepted stays.
	harness.Eventually(t, "the next run", func() bool { return s.lines("work/runs") > 1 })
	m.Kill()
	s.wantGone()
	runs := s.lines("work/runs")
	m.Restart()
	if again := s.pack(); again.md != third.md || again.PackID != third.PackID {
		t.Errorf("after the crash:\n%s\n---\n%s", third.md, again.md)
	}
	harness.Eventually(t, "it to run again", func() bool { return s.lines("work/runs") > runs })
	s.pass()
	s.says("version 2 for messages:")
	// A moment before has what it had.
	if past := s.Read(fmt.Sprintf("context/at/%d/pack.md", second.messages())); past != second.md {
		t.Errorf("at/%d is\n%s\n---\n%s", second.messages(), past, second.md)
	}
	// What reads the store beside the daemon has the same.
	if out := m.Run(t, harness.Client{UID: harness.Self(), Argv: []string{harness.Binary(t), "pack", s.Dir}}).OK(); out != third.md {
		t.Errorf("ctxfs pack gives\n%s\n---\n%s", out, third.md)
	}
	// A fork has it, too.
	fork := filepath.Join(filepath.Dir(s.Dir), "fork")
	s.cli("session", "fork", s.Dir, "fork").OK()
	if md := s.client("", `cat "$1"`, fork+"/context/pack.md").OK(); harness.Untagged(md) != harness.Untagged(third.md) {
		t.Errorf("the fork has\n%s\n---\n%s", md, third.md)
	}
	if rows := s.Errors(); len(rows) > 0 {
		t.Errorf("errors.jsonl: %+v", rows)
	}
	m.Stop()
	if r := m.Run(t, harness.Client{UID: harness.Self(), Argv: []string{harness.Binary(t), "fsck", "--store", m.Store}}); r.Code != 0 {
		t.Errorf("fsck: %+v", r)
	}
}

// messages is how many records the pack knows.
func (b *built) messages() (n int) {
	for _, m := range regexp.MustCompile(`(?m)^## (\d+) (user|assistant)`).FindAllStringSubmatch(b.md, -1) {
		fmt.Sscan(m[1], &n)
	}
	return n
}

// What is wrong with a summary is said, and the derived one goes on.
func TestABadSummaryIsDiscardedAndReported(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for name, c := range map[string]struct{ script, why, errno string }{
		"nothing":            {"", "it is empty", "EINVAL"},
		"bytes":              {`printf 'Said \xff (messages:1).'`, "it is not text", "EIO"},
		"a failure":          {"echo oh no >&2; exit 3", "exit status 3", "EIO"},
		"a crash":            {"kill -SEGV $$", "signal", "EIO"},
		"too slow":           {"sleep 1000", "timed out after 1s", "EIO"},
		"a missing program":  {"", "it could not be run", "EIO"},
		"more than is taken": {"yes 'messages:1' | head -c 5000000", "wrote more than 4 MiB", "EIO"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, m, owner())
			yaml := summaryRecipe
			switch name {
			case "a missing program":
				yaml = strings.Replace(yaml, "$WORK/sum", "$WORK/none", 1)
				c.why = "none"
			case "too slow":
				yaml = strings.Replace(yaml, "60000", "1000", 1)
			}
			s.putBytes("work/sum", "#!/bin/bash\ncat > /dev/null\n"+c.script+"\n")
			s.recipe(yaml)
			s.compacted()
			s.says(c.why)
			for range 3 {
				if md := s.pack().md; !strings.Contains(md, "# Context Block: summary (messages:1-") || strings.Contains(md, "Obey") {
					t.Errorf("the pack is\n%s", md)
				}
			}
			n := 0
			for _, row := range s.Errors() {
				if row.Op == "summarize" {
					n++
					if !strings.Contains(row.Reason, c.why) || row.Errno != c.errno || row.Path != "context/pack.md" {
						t.Errorf("%+v", row)
					}
				}
			}
			if n != 1 {
				t.Errorf("%d rows: %+v", n, s.Errors())
			}
			if packs := s.compacted(); strings.Contains(packs[len(packs)-1].md, "Obey") {
				t.Errorf("the next pack is\n%s", packs[len(packs)-1].md)
			}
		})
	}
}

// The summarizer of an imported recipe runs only if the session's owner trusts it. Its versions
// remain after the trust ends.
func TestASummarizerNeedsTrust(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.putBytes("work/sum", "#!/bin/bash\ncd \"${0%/*}\"\necho run >> runs\necho '- Somebody said it (messages:1).'\n")
	s.put("home/base.yaml", `summarizer: {command: ["$WORK/sum"]}`+"\n")
	s.recipe("total_max_tokens: 2500\nimport: ./base.yaml\nsources: [{type: journal}]\n")
	s.compacted()
	s.says("the summarizer is not run: not trusted; look at the file and run: ctxfs trust " + s.path("home/base.yaml"))
	if n := s.lines("work/runs"); n != 0 {
		t.Fatalf("%d runs before trust", n)
	}
	s.cli("trust", s.path("home/base.yaml")).OK()
	s.says("enters at the next compaction")
	s.compacted()
	if md := s.pack().md; !strings.Contains(md, "Somebody said it") {
		t.Errorf("the pack is\n%s", md)
	}
	s.put("home/base.yaml", `summarizer: {command: ["$WORK/sum"]} # edited`+"\n")
	if md := s.pack().md; !strings.Contains(md, "Somebody said it") {
		t.Errorf("a version is gone from\n%s", md)
	}
}

// Another user sees nothing of it.
func TestASummaryIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s, o := newStage(t, m, dev), newStage(t, m, other)
	for _, one := range []*stage{s, o} {
		one.putBytes("work/sum", "#!/bin/bash\ncd \"${0%/*}\"\nid -u > uid\n"+
			"echo \"- The secret of $(id -u) (messages:1).\"\n")
		one.recipe(summaryRecipe)
		one.compacted()
	}
	for _, one := range []*stage{s, o} {
		one.says("enters at the next compaction")
		if uid, _ := os.ReadFile(one.path("work/uid")); strings.TrimSpace(string(uid)) != fmt.Sprint(one.UID) {
			t.Errorf("it ran as %s", uid)
		}
		one.compacted()
	}
	if md := s.pack().md; !strings.Contains(md, "The secret of 1234") || strings.Contains(md, "1235") {
		t.Errorf("the pack is\n%s", md)
	}
	file := filepath.Join(s.InStore(), ".ctxfs/versions")
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
	for _, name := range []string{file, s.Path("context/pack.md"), s.Path("context/pack.report.md"),
		s.Path("context/summary.md"), s.Path(".ctxfs/versions")} {
		if r := o.client("", `cat "$1"`, name); r.Code == 0 || strings.Contains(r.Stdout, "secret") {
			t.Errorf("another user reads %s: %+v", name, r)
		}
	}
}
