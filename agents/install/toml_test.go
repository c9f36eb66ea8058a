package install

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const codexConfig = "home/.codex/config.toml"

func TestTOMLIsAsBeforeAfterwards(t *testing.T) {
	for name, before := range map[string]string{
		"nothing":            "",
		"no last line break": "# mine\nmodel = \"o3\" # best\n\n[mcp_servers.foo]\ncommand = \"x\"",
		"CRLF":               "model = \"o3\"\r\n\r\n[projects.\"/p\"]\r\ntrust_level = \"trusted\"\r\n",
		"a text like ours":   "note = '''\n[mcp_servers.ctxfs]\ncommand = \"ctxfs\"\n'''\n",
	} {
		m := empty(t)
		m.write(codexConfig, before)
		m.connect("codex", m.options())
		if again := m.connect("codex", m.options()); len(again) != 0 {
			t.Errorf("%s: the second time changes %+v", name, again)
		}
		text := m.read(codexConfig)
		if !strings.HasPrefix(text, before) || strings.Contains(before, "\r\n") != strings.HasSuffix(text, "\r\n") {
			t.Errorf("%s: it became\n%s", name, text)
		}
		v, err := readTOML([]byte(text))
		line, err2 := tomlCommand(v)
		if got := strings.Join(line, " "); err != nil || err2 != nil || got != "ctxfs mcp --hooks --agent codex --mount /ctx" {
			t.Errorf("%s: %q, %v, %v", name, got, err, err2)
		}
		m.disconnect("codex", m.options())
		if got := m.read(codexConfig); got != before {
			t.Errorf("%s: %q became %q", name, before, got)
		}
	}
}

// Codex writes its own tables before and behind ours, and between our marks.
func TestTablesOfCodexStay(t *testing.T) {
	m := empty(t)
	m.connect("codex", m.options())
	ours := m.read(codexConfig)
	body := strings.TrimSuffix(ours, markEnd+"\n")
	m.write(codexConfig, "model = \"o3\"\n\n"+body+"startup_timeout_sec = 5\n\n[mcp_servers.ctxfs.env]\nA = \"b\"\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n"+markEnd+"\n\n[tui]\nx = 1\n")
	moved := m.options()
	moved.Mount, moved.Command = `/my "ctx"`, "/opt/ctxfs"
	m.connect("codex", moved)
	text := m.read(codexConfig)
	if strings.Count(text, "[mcp_servers.ctxfs]") != 1 || strings.Count(text, markEnd) != 1 || !strings.Contains(text, `"/my \"ctx\""`) {
		t.Errorf("it became\n%s", text)
	}
	m.disconnect("codex", moved)
	if got, want := m.read(codexConfig), "model = \"o3\"\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n\n[tui]\nx = 1\n"; got != want {
		t.Errorf("it became\n%s\nwant\n%s", got, want)
	}
}

// What is installed again over a file that its program, or somebody, changed or removed goes as well.
func TestAFileThatWasChangedBetweenTwoTimesGoes(t *testing.T) {
	for program, names := range settings {
		m := empty(t)
		m.connect(program, m.options())
		for _, name := range names {
			m.write(name, strings.ReplaceAll(m.read(name), "/ctx", "/old")) // as if an older ctxfs wrote it
		}
		m.connect(program, m.options())
		if text := m.read(names[0]); strings.Contains(text, "/old") || !strings.Contains(text, "/ctx") {
			t.Errorf("%s became\n%s", names[0], text)
		}
		if err := os.Remove(m.name(names[0])); err != nil {
			t.Fatal(err)
		}
		m.connect(program, m.options())
		m.disconnect(program, m.options())
		for _, name := range m.files() {
			if strings.Contains(name, "ctxfs") || slices.Contains(names, name) {
				t.Errorf("%s: %s is left: %s", program, name, m.read(name))
			}
		}
	}
}

func TestWordsAreReadAsAShellReadsThem(t *testing.T) {
	for _, line := range [][]string{{"ctxfs", "hook"}, {"/a b/ctxfs", "hook", "--mount", "/it's"}, {"", `"`, `\`, "$HOME", "日本"}} {
		var shown []string
		for _, w := range line {
			shown = append(shown, quoted(w))
		}
		if got := words(strings.Join(shown, " ")); strings.Join(got, "\x00") != strings.Join(line, "\x00") {
			t.Errorf("%q became %q", line, got)
		}
	}
	for command, want := range map[string]bool{
		"ctxfs hook": true, "'/opt/my own/ctxfs' hook || true": true, `"/opt/ctxfs" hook`: true, "ctxfs hooks": false, "ctxfs": false, "": false,
		"echo ctxfs hook": false, "notctxfs hook": false, `"$CLAUDE_PROJECT_DIR"/.claude/hooks/ctxfs-hook.sh`: true,
	} {
		if ownHook(command) != want {
			t.Errorf("%q: %t", command, !want)
		}
	}
}
