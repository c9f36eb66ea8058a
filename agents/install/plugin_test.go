package install

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// asOpencode does with the plugin what opencode does in two turns of a session, one of a sub-agent between them, and prints what a model is told.
const asOpencode = `
import plugin from "./ctxfs.mjs"
const sessions = { one: { id: "one", directory: "/w" }, sub: { id: "sub", directory: "/w", parentID: "one" }, none: { id: "none", directory: "/w" } }
const session = {
  get: async ({ path }) => ({ data: sessions[path.id] }),
  messages: async ({ path }) => ({ data: path.id === "none" ? [] : [{ info: { id: "m1" }, parts: [{ type: "text", text: "8443" }] }] }),
}
const hooks = await plugin.server({ client: { session }, directory: "/d" })
const told = []
const ask = async (sessionID, system = ["You are opencode."]) => {
  await hooks["experimental.chat.system.transform"]({ sessionID }, { system })
  told.push(system.slice(1).join())
}
const happens = (type, properties) => hooks.event({ event: { type, properties } })
await ask("one", ["You are a title generator."])
await ask("one")
await happens("session.idle", { sessionID: "one" })
await ask("sub")
await happens("session.idle", { sessionID: "sub" })
await happens("session.idle", { sessionID: "none" })
await ask("one")
await happens("session.compacted", { sessionID: "one" })
await ask("one")
await ask(undefined)
await hooks.dispose()
console.log(JSON.stringify(told))
`

// hookOfTest keeps what it is given, a file for each event, and answers as ctxfs hook does.
const hookOfTest = `#!/bin/sh
input=$(cat)
case $input in
*SessionStart*) echo "$input" >> "$0.starts"; echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"MEMORY"}}' ;;
*SessionEnd*) echo "$input" > "$0.end.new"; mv "$0.end.new" "$0.end" ;;
*) echo "$input" >> "$0.stops" ;;
esac
`

func TestThePluginTellsAndRecords(t *testing.T) {
	suite.Matrix(t, "needs Node")
	harness.Need(t, "node")
	m := empty(t)
	hook := m.name("hook it.sh")
	m.write("hook it.sh", hookOfTest)
	if err := os.Chmod(hook, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(command ...string) (told []string) {
		text, err := plugin{command}.put(nil)
		if err != nil {
			t.Fatal(err)
		}
		m.write("ctxfs.mjs", string(text))
		m.write("as.mjs", asOpencode)
		cmd := exec.Command("node", "as.mjs")
		cmd.Dir, cmd.Env = m.dir, append(os.Environ(), "HOME="+m.name("home"), "XDG_STATE_HOME="+m.name("state"))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &told)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return told
	}
	// The title, the first turn, the sub-agent, the second turn, the one after a compaction, and a request without a session.
	if told := run(hook, "hook"); !slices.Equal(told, []string{"", "MEMORY", "", "MEMORY", "MEMORY", ""}) {
		t.Errorf("it told %q", told)
	}
	harness.Eventually(t, "the end is told", func() bool {
		return m.read("hook it.sh.end") != "(none)" && strings.Count(m.read("hook it.sh.stops"), "\n") == 2
	})
	var sources []string
	for line := range strings.Lines(m.read("hook it.sh.starts")) {
		var in struct{ Source, Cwd string }
		if err := json.Unmarshal([]byte(line), &in); err != nil || in.Cwd != "/w" {
			t.Errorf("%s: %v", line, err)
		}
		sources = append(sources, in.Source)
	}
	if !slices.Equal(sources, []string{"startup", "compact"}) {
		t.Errorf("it asked at %q", sources)
	}
	const transcript = "state/ctxfs/opencode/one.json"
	if got, want := m.read(transcript), `{"info":{"id":"one","directory":"/w"},"messages":[{"info":{"id":"m1"},"parts":[{"type":"text","text":"8443"}]}]}`; got != want {
		t.Errorf("the transcript is %s, want %s", got, want)
	}
	if end := m.read("hook it.sh.end"); !strings.Contains(end, `"transcript_path":"`+m.name(transcript)+`"`) || !strings.Contains(end, `"session_id":"one"`) {
		t.Errorf("at the end it told %s", end)
	}
	if all, _ := filepath.Glob(m.name("state/ctxfs/opencode/*")); len(all) != 1 {
		t.Errorf("it wrote %q", all)
	}
	// Without a ctxfs nothing is told, and nothing fails.
	if told := run("/nowhere/ctxfs", "hook"); strings.Join(told, "") != "" {
		t.Errorf("without ctxfs it told %q", told)
	}
}
