package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const continued = "This session is being continued from a previous conversation that ran out of context. " +
	"The summary below covers the earlier portion of the conversation.\n\n"

// After a compaction, the SessionStart hook lists the rules, decisions, and values that the summary
// lacks.
func TestHookListsOmissionsOfASummary(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	k := &talk{h: h}
	k.start("startup")
	k.turn("The staging port is 8443. Never push to main.")
	k.turn("I decide: port 9001 is for service 1.")
	k.turn("Always run the linter. The timeout is 250 ms.")
	k.turn("Don't always run the linter any more. Read docs/style.md before you write.")

	k.compactTo(continued + "I decide that port 9001 is for service 1. The timeout is 250 ms.\n")
	told := k.start("compact")
	wants(t, "the context after the compaction", told, "Your memory is files in ",
		"# What this session keeps\n\n## Not in the summary of this conversation\n",
		"- Never push to main. (messages:1)\n", "The staging port is 8443. (messages:1)\n")
	for _, known := range []string{"9001", "250", "- Always run", "## Known", "## So far"} {
		if strings.Contains(told, known) {
			t.Errorf("the context has %q, which the summary has:\n%s", known, told)
		}
	}
	_, list, _ := strings.Cut(told, "## Not in the summary of this conversation\n")
	list, _, _ = strings.Cut(list, "\n#")
	if n := ctxabi.Weight(list); n > 200 {
		t.Errorf("the list has %d tokens:\n%s", n, list)
	}

	version := filepath.Join(h.dir(sessionID), ctxabi.SummaryPath(1))
	if text, err := os.ReadFile(version); err != nil || strings.Contains(string(text), "being continued") ||
		!strings.Contains(string(text), "9001") {
		t.Errorf("the version is %q, %v", text, err)
	}
	for attr, want := range map[string]string{"writer": "import", "upto": "8", "messages": "8"} {
		says(t, attr, mounts.Attr(version, "user.ctx."+attr), want)
	}

	// A second import of the same transcript delivers no second version.
	h.fire("Stop", "stop")
	h.fire("SessionEnd", "session-end")
	if entries, err := os.ReadDir(filepath.Join(h.dir(sessionID), ctxabi.SummariesDir)); err != nil ||
		len(entries) != 1 {
		t.Errorf("%d versions, %v", len(entries), err)
	}

	// A complete summary has no omissions.
	k.turn("Go on.")
	k.compactTo(continued + "Never push to main. Always run the linter. The staging port is 8443. " +
		"The timeout is 250 ms.\nI decide: port 9001 is for service 1. Don't always run the linter any more. " +
		"Read docs/style.md before you write.\n")
	if told := k.start("compact"); !strings.Contains(told, "Your memory is files in ") ||
		strings.Contains(told, "What this session keeps") {
		t.Errorf("the context after a complete summary:\n%s", told)
	}
}

// With CTXFS_HOOK=off, hooks record nothing and print nothing. Summarizers run with this setting,
// since they may be agent programs with hooks.
func TestHookOffDoesNothing(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.say(99)
	for event, input := range map[string]string{"SessionStart": "session-start-startup", "Stop": "stop",
		"PreCompact":  "pre-compact-auto",
		"PostCompact": "post-compact", "SessionEnd": "session-end"} {
		says(t, event, h.fire(event, input, "CTXFS_HOOK=off"), "")
	}
	if _, err := os.Stat(h.dir(sessionID)); !os.IsNotExist(err) {
		t.Errorf("there is a session: %v", err)
	}
}
