package projecttest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// block is the project's block of a pack.md.
func block(packMD string) string {
	_, rest, ok := strings.Cut(packMD, "# Context Block: project\n")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, "\n# Context Block: ")
	return text
}

// head is a pack.md up to the conversation.
func head(packMD string) string {
	text, _, _ := strings.Cut(packMD, "# Context Block: conversation\n")
	return text
}

func packOf(s *harness.Session, name string) string { return s.Bash("cat context/" + name).OK() }

// work makes a session compact itself: long answers.
func work(s *harness.Session, from, n int) {
	for i := from; i < from+n; i++ {
		answer := strings.Repeat(fmt.Sprintf("Module %d reads line %d of the table. ", i, i*7), 12)
		tell(s,
			harness.Message("user", fmt.Sprintf("Look at module %d.", i)),
			harness.Message("assistant", answer))
	}
}

var compactions = regexp.MustCompile(`"compactions":\s*(\d+)`)

// A pack shows the notes and what the other sessions know from its first reading on, and the same bytes until it is
// compacted, whatever the others say meanwhile. Then it shows what they know by then; packs of earlier moments stay.
func TestAPackShowsTheMemoryOfTheOthers(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	other := newSession(t, m, "claude-code", "first", app,
		harness.Message("user", "The staging port is 8443. Never push to main."))
	s := newSession(t, m, "codex", "second", app,
		harness.Message("user", "My own port is 5111."),
		harness.Message("assistant", "The retry is in place with backoff and jitter now."))
	s.Bash("echo 'The build needs Go 1.26.' > " + projectDir(t, s, app) + "/notes.md; echo 3000 > context/budget").OK()

	first := packOf(s, "pack.md")
	got := block(first)
	wants(t, got, []string{"# Notes of " + app + "\nThe build needs Go 1.26.\n\n# Memory of " + app, "- The staging port is 8443. (claude-code/first messages:1)", "Never push to main."}, "5111")
	if i, j := strings.Index(first, "# Context Block: project"), strings.Index(first, "# Context Block: conversation"); i < 0 || i > j {
		t.Errorf("the block stands at %d, the conversation at %d", i, j)
	}

	// The other one goes on, and a third one begins: not a byte in front of the conversation changes.
	tell(other, harness.Message("user", "The admin port is 9443."))
	newSession(t, m, "gemini", "third", app, harness.Message("user", "The debug port is 7443."))
	s.Bash("echo 'New notes.' > " + projectDir(t, s, app) + "/notes.md").OK()
	tell(s, harness.Message("user", "Go on with the tests of the retry."))
	second := packOf(s, "pack.md")
	if head(second) != head(first) {
		t.Errorf("the prefix changed:\n%s\nwas\n%s", head(second), head(first))
	}
	moments := map[int]string{2: packOf(s, "at/2/pack.md"), 3: second}
	if moments[2] != first {
		t.Errorf("at/2 is\n%s\nwas\n%s", moments[2], first)
	}
	m.Stop()
	m.Restart()
	if again := packOf(s, "pack.md"); again != second {
		t.Errorf("after a restart:\n%s", again)
	}

	// Until it is compacted.
	count := func() string { return compactions.FindString(packOf(s, "pack.json")) }
	before := count()
	lines := 3
	for i := 1; count() == before; i += 2 {
		if i > 60 {
			t.Fatalf("%s after %d messages: never compacted", before, lines)
		}
		if n := block(packOf(s, "pack.md")); n != got {
			t.Fatalf("changed without a compaction:\n%s", n)
		}
		work(s, i, 2)
		lines += 4
	}
	wants(t, block(packOf(s, "pack.md")), []string{"New notes.", "8443", "9443", "7443"}, "5111", "Go 1.26")
	for n, want := range moments {
		if got := packOf(s, fmt.Sprintf("at/%d/pack.md", n)); got != want {
			t.Errorf("at/%d is\n%s\nwas\n%s", n, got, want)
		}
	}
	// Who made it is told by pack.json and ctxfs why.
	wants(t, packOf(s, "pack.json"), []string{`"project"`, "project/home-me-app/memory.md"})
	// A fork has what its origin had at that message.
	forked := m.CLI(t, "session", "fork", s.Dir+"@3", "forked")
	forked.OK()
	got = head(packOf(m.Session(t, harness.Self(), "codex", "forked"), "pack.md"))
	if want := head(second); harness.Untagged(got) != harness.Untagged(want) {
		t.Errorf("the fork has\n%s\nwant\n%s", got, want)
	}
	if r := m.CLI(t, "fsck", "--store", m.Store); r.Code != 0 {
		t.Errorf("fsck: %s%s", r.Stdout, r.Stderr)
	}
}

// The frames of many short messages take more of the renderings than their texts: such a pack is compacted earlier than
// its texts ask for, and shows what the others know by then all the same.
func TestShortTurnsRefreshTheMemory(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newSession(t, m, "codex", "second", app, harness.Message("user", "My own port is 5111."))
	notes := projectDir(t, s, app) + "/notes.md"
	s.Bash("echo 'Old notes.' > " + notes + "; echo 3000 > context/budget").OK()
	wants(t, block(packOf(s, "pack.md")), []string{"Old notes."}, "New notes.")
	s.Bash("echo 'New notes.' > " + notes).OK()
	before := compactions.FindString(packOf(s, "pack.json"))
	for i := 1; compactions.FindString(packOf(s, "pack.json")) == before; i++ {
		if i > 300 {
			t.Fatalf("%s after %d turns: never compacted", before, i)
		}
		wants(t, block(packOf(s, "pack.md")), []string{"Old notes."}, "New notes.")
		tell(s, harness.Message("user", fmt.Sprintf("Look at %d.", i)), harness.Message("assistant", "Yes."))
	}
	now := packOf(s, "pack.md")
	wants(t, block(now), []string{"New notes."}, "Old notes.")
	m.Stop()
	m.Restart()
	if again := packOf(s, "pack.md"); again != now {
		t.Errorf("after a restart:\n%s\nwas\n%s", again, now)
	}
}

// Without other sessions and without notes there is nothing, and another workspace is another memory.
func TestAPackOfALoneSessionShowsNoProject(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newSession(t, m, "coder", "s1", "", harness.Message("user", "The port is 5111."))
	s.Bash("echo 2000 > context/budget").OK() // less than there is: what takes room shows in all of the pack
	work(s, 1, 20)
	plain := packOf(s, "pack.md")
	s.Bash("echo " + app + " > cwd").OK()
	if got := packOf(s, "pack.md"); got != plain {
		t.Errorf("with a cwd:\n%s\nwas\n%s", got, plain)
	}
	newSession(t, m, "coder", "s2", "/srv/other", harness.Message("user", "The staging port is 8443."))
	s.Bash("echo /srv/other > context/project").OK()
	wants(t, block(packOf(s, "pack.md")), []string{"8443"})
	s.Bash("echo none > context/project").OK()
	if got := packOf(s, "pack.md"); got != plain {
		t.Errorf("with none:\n%s\nwas\n%s", got, plain)
	}
}

// A recipe may leave it out, or give it less.
func TestARecipeBoundsTheProject(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	o := newSession(t, m, "coder", "s1", app)
	o.Bash(`seq -f 'Node %g has a port of its own.' 100 160 > context/pinned/nodes.md`).OK()
	s := newSession(t, m, "coder", "s2", app, harness.Message("user", "Begin."))
	s.Bash(`printf 'sources: [{type: project, max_tokens: 200}, {type: journal}]\n' > context/context.yaml`).OK()
	got := block(packOf(s, "pack.md"))
	wants(t, got, []string{"Node 100 has", "memory.md"}, "Node 160 has")
	s.Bash(`printf 'sources: [{type: journal}]\n' > context/context.yaml`).OK()
	if got := block(packOf(s, "pack.md")); got != "" {
		t.Errorf("without the source: %s", got)
	}
}
