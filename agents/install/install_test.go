package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
)

// machine is a home with settings in it.
type machine struct {
	testing.TB
	dir string
}

// empty makes a home without anything.
func empty(t testing.TB) machine {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return machine{t, dir}
}

func (m machine) options() Options {
	return Options{Hooks: true, Server: true, Command: "ctxfs", Mount: "/ctx", Home: filepath.Join(m.dir, "home")}
}

func (m machine) name(rel string) string { return filepath.Join(m.dir, rel) }

func (m machine) write(rel, text string) {
	m.Helper()
	if err := os.MkdirAll(filepath.Dir(m.name(rel)), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(m.name(rel), []byte(text), 0o640); err != nil {
		m.Fatal(err)
	}
}

// read returns a file's text; "(none)" where it is not there.
func (m machine) read(rel string) string {
	m.Helper()
	b, err := os.ReadFile(m.name(rel))
	if os.IsNotExist(err) {
		return "(none)"
	}
	if err != nil {
		m.Fatal(err)
	}
	return string(b)
}

func (m machine) connect(program string, o Options) []Change {
	m.Helper()
	p, _ := Lookup(program)
	all, _, err := Connect(p, o)
	if err != nil {
		m.Fatal(err)
	}
	return all
}

func (m machine) disconnect(program string, o Options) []Change {
	m.Helper()
	p, _ := Lookup(program)
	all, err := Disconnect(p, o)
	if err != nil {
		m.Fatal(err)
	}
	return all
}

// files returns all that is in the home.
func (m machine) files() (all []string) {
	m.Helper()
	err := filepath.WalkDir(m.dir, func(name string, e os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(m.dir, name); rel != "." {
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		m.Fatal(err)
	}
	return all
}

// settings are the files of each program, as they are named below a home.
var settings = map[string][]string{
	"claude-code": {"home/.claude/settings.json", "home/.claude.json"},
	"codex":       {"home/.codex/hooks.json", "home/.codex/config.toml"},
	"gemini":      {"home/.gemini/settings.json"},
	"opencode":    {"home/.config/opencode/plugin/ctxfs.js", "home/.config/opencode/opencode.json"},
}

func TestMain(m *testing.M) { suite.Main(m) }

func TestAnEmptyHomeIsEmptyAgain(t *testing.T) {
	for program, names := range settings {
		m := empty(t)
		if err := os.Mkdir(m.name("home"), 0o700); err != nil {
			t.Fatal(err)
		}
		all := m.connect(program, m.options())
		for i, c := range all {
			if c.File != m.name(names[i]) || !c.Made || len(c.Lines) == 0 || c.Backup != "" {
				t.Errorf("%s: %+v", program, c)
			}
		}
		if len(all) != len(names) {
			t.Errorf("%s: %d files changed", program, len(all))
		}
		if again := m.connect(program, m.options()); len(again) != 0 {
			t.Errorf("%s: the second time changes %+v", program, again)
		}
		p, _ := Lookup(program)
		s := Look(p, m.options())
		if !s.Found || !s.Hooks || !s.Server || !slices.Equal(s.Mounts, []string{"/ctx"}) || s.Err != nil {
			t.Errorf("%s: %+v", program, s)
		}
		if program == "opencode" { // its plugin wrote this
			m.write("home/.local/state/ctxfs/opencode/ses_1.json", "{}")
		}
		m.disconnect(program, m.options())
		if left := m.files(); !slices.Equal(left, []string{"home"}) {
			t.Errorf("%s: it leaves %q", program, left)
		}
		if s := Look(p, m.options()); s.Hooks || s.Server {
			t.Errorf("%s: %+v", program, s)
		}
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	for program := range settings {
		m := empty(t)
		o := m.options()
		o.DryRun = true
		if all := m.connect(program, o); len(all) == 0 {
			t.Errorf("%s: nothing is planned", program)
		}
		if left := m.files(); len(left) > 0 {
			t.Errorf("%s: it wrote %q", program, left)
		}
		m.connect(program, m.options())
		was := m.files()
		if all := m.disconnect(program, o); len(all) == 0 {
			t.Errorf("%s: no removal is planned", program)
		}
		if is := m.files(); !slices.Equal(was, is) {
			t.Errorf("%s: %q became %q", program, was, is)
		}
	}
}

// What a file becomes, byte by byte.
func TestEditsStandBesideWhatIsThere(t *testing.T) {
	const entry = `"ctxfs":{"command":"ctxfs","args":["mcp","--agent","gemini","--mount","/ctx"]}`
	for name, c := range map[string]struct{ before, after string }{
		"empty":               {"", "{\n  \"mcpServers\": {\n    \"ctxfs\": {\n      \"command\": \"ctxfs\",\n      \"args\": [\n        \"mcp\",\n        \"--agent\",\n        \"gemini\",\n        \"--mount\",\n        \"/ctx\"\n      ]\n    }\n  }\n}\n"},
		"on one line":         {`{"a":1,"b":{}}`, `{"a":1,"b":{},"mcpServers":{` + entry + `}}`},
		"on one line, spaced": {`{"a": 1}` + "\n", `{"a": 1, "mcpServers": {"ctxfs": {"command": "ctxfs", "args": ["mcp","--agent","gemini","--mount","/ctx"]}}}` + "\n"},
		"tabs, comments and a last comma": {
			"{\n\t// mine\n\t\"a\": 1, // one\n\t/* other servers */\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}, // keep\n\t},\n\t// the end\n}",
			"{\n\t// mine\n\t\"a\": 1, // one\n\t/* other servers */\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}, // keep\n\t\t\"ctxfs\": {\n\t\t\t\"command\": \"ctxfs\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\",\n\t\t\t\t\"--agent\",\n\t\t\t\t\"gemini\",\n\t\t\t\t\"--mount\",\n\t\t\t\t\"/ctx\"\n\t\t\t]\n\t\t},\n\t},\n\t// the end\n}",
		},
		"CRLF, BOM and three blanks": {
			"\xef\xbb\xbf{\r\n   \"a\": 1 // one\r\n}\r\n",
			"\xef\xbb\xbf{\r\n   \"a\": 1, // one\r\n   \"mcpServers\": {\r\n      \"ctxfs\": {\r\n         \"command\": \"ctxfs\",\r\n         \"args\": [\r\n            \"mcp\",\r\n            \"--agent\",\r\n            \"gemini\",\r\n            \"--mount\",\r\n            \"/ctx\"\r\n         ]\r\n      }\r\n   }\r\n}\r\n",
		},
	} {
		m := empty(t)
		m.write("home/.gemini/settings.json", c.before)
		o := m.options()
		o.Hooks = false
		m.connect("gemini", o)
		if got := m.read("home/.gemini/settings.json"); got != c.after {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.after)
		}
		m.disconnect("gemini", o)
		if got := m.read("home/.gemini/settings.json"); got != c.before {
			t.Errorf("%s: afterwards it is %q", name, got)
		}
	}
}

func TestHooksOfOthersStay(t *testing.T) {
	const before = `{
    "model": "opus", // mine
    "hooks": {
        "Stop": [
            {"matcher": "", "hooks": [{"type": "command", "command": "notify-send ctxfs hook"}]}
        ],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/check.sh"}]}]
    }
}
`
	m := empty(t)
	file := settings["claude-code"][0]
	m.write(file, before)
	m.connect("claude-code", m.options())
	text := m.read(file)
	for _, want := range []string{"// mine", "notify-send ctxfs hook", "/opt/check.sh"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is gone from\n%s", want, text)
		}
	}
	if n := strings.Count(text, `"ctxfs hook --mount /ctx || true"`); n != 5 {
		t.Errorf("%d hooks in\n%s", n, text)
	}
	m.write(file, strings.Replace(text, "opus", "sonnet", 1)) // the program writes it, too
	m.disconnect("claude-code", m.options())
	if got, want := m.read(file), strings.Replace(before, "opus", "sonnet", 1); got != want {
		t.Errorf("it became\n%s\nwant\n%s", got, want)
	}
}

func TestAnOlderEntryIsReplacedAndRemoved(t *testing.T) {
	const old = `{"hooks": {
  "SessionStart": [{"hooks": [{"type": "command", "command": "'/opt/old one/ctxfs' hook --mount /old || true", "timeout": 5}]}],
  "Stop": [{"hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/ctxfs-hook.sh"}, {"type": "command", "command": "true"}]}],
  "Notification": [{"hooks": [{"type": "command", "command": "/usr/bin/ctxfs hook"}]}]
}}`
	m := empty(t)
	file, state := settings["claude-code"][0], settings["claude-code"][1]
	m.write(file, old)
	m.write(state, `{"mcpServers":{"ctxfs":{"type":"stdio","command":"/opt/old/ctxfs","args":["mcp"],"env":{"A":"b"}}}}`)
	m.connect("claude-code", m.options())
	text := m.read(file)
	if strings.Contains(text, "/opt/old") || strings.Contains(text, "ctxfs-hook.sh") || strings.Contains(text, "Notification") || !strings.Contains(text, `"true"`) {
		t.Errorf("it became\n%s", text)
	}
	if n := strings.Count(text, "ctxfs hook --mount /ctx"); n != 5 {
		t.Errorf("%d hooks in\n%s", n, text)
	}
	if got, want := m.read(state), `{"mcpServers":{"ctxfs":{"type":"stdio","command":"ctxfs","args":["mcp","--agent","claude-code","--mount","/ctx"],"env":{"A":"b"}}}}`; got != want {
		t.Errorf("it became\n%s\nwant\n%s", got, want)
	}
	m.disconnect("claude-code", m.options())
	for _, name := range []string{file, state} {
		if text := m.read(name); strings.Contains(text, "ctxfs") {
			t.Errorf("%s became %s", name, text)
		}
	}
	if text := m.read(file); !strings.Contains(text, `"true"`) {
		t.Errorf("it became %s", text)
	}
}

func TestScopesAndPartsAreTakenOutOneByOne(t *testing.T) {
	m := empty(t)
	before := `{ "projects": {}, "x" : [ ] }`
	state := settings["claude-code"][1]
	m.write(state, before)
	m.write("p/.git/HEAD", "ref: refs/heads/main\n")
	project := m.options()
	project.Project = m.name("p")
	m.connect("claude-code", m.options())
	m.connect("claude-code", project)
	if text := m.read(state); strings.Count(text, "ctxfs mcp") > 0 || strings.Count(text, `"ctxfs":`) != 2 {
		t.Errorf("it is %s", text)
	}
	p, _ := Lookup("claude-code")
	m.disconnect("claude-code", project)
	if s := Look(p, m.options()); !s.Hooks || !s.Server {
		t.Errorf("what is the user's went with the project's: %+v", s)
	}
	hooks := m.options()
	hooks.Server = false
	m.disconnect("claude-code", hooks)
	if s := Look(p, m.options()); s.Hooks || !s.Server {
		t.Errorf("without hooks: %+v", s)
	}
	m.disconnect("claude-code", m.options())
	if text := m.read(state); text != before {
		t.Errorf("it became %s", text)
	}
	for _, name := range m.files() {
		if strings.Contains(name, "ctxfs") || strings.Contains(name, ".claude/") {
			t.Errorf("%s is left", name)
		}
	}
}

func TestWhatCannotBeEditedIsLeftAlone(t *testing.T) {
	for name, c := range map[string]struct{ program, file, text, says string }{
		"broken JSON":      {"claude-code", "home/.claude.json", `{"a": }`, "line 1"},
		"no object":        {"claude-code", "home/.claude/settings.json", `[]`, "not a JSON object"},
		"hooks of a kind":  {"claude-code", "home/.claude/settings.json", `{"hooks": 7}`, `"hooks" is not an object`},
		"an event":         {"codex", "home/.codex/hooks.json", `{"hooks": {"Stop": {}}}`, "hooks.Stop is not an array"},
		"two of a name":    {"gemini", "home/.gemini/settings.json", `{"mcpServers": {}, "mcpServers": {}}`, "mcpServers"},
		"another server":   {"gemini", "home/.gemini/settings.json", `{"mcpServers": {"ctxfs": {"command": "npx"}}}`, "does not start ctxfs mcp"},
		"broken TOML":      {"codex", "home/.codex/config.toml", "a = \n", "line 1"},
		"an inline table":  {"codex", "home/.codex/config.toml", "mcp_servers = {other = {command = \"x\"}}\n", "takes no table"},
		"another in TOML":  {"codex", "home/.codex/config.toml", "[mcp_servers.ctxfs]\nurl = \"http://x\"\n", "does not start ctxfs mcp"},
		"another's plugin": {"opencode", "home/.config/opencode/plugin/ctxfs.js", "export default 1\n", "not the plugin of ctxfs"},
	} {
		m := empty(t)
		m.write(c.file, c.text)
		was := m.files()
		p, _ := Lookup(c.program)
		_, _, err := Connect(p, m.options())
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), m.name(c.file)) {
			t.Errorf("%s: the error is %v", name, err)
		}
		if got := m.read(c.file); got != c.text || !slices.Equal(m.files(), was) {
			t.Errorf("%s: something was changed: %q, %q", name, got, m.files())
		}
	}
}

func TestLinksModesAndFilesOfOthersStay(t *testing.T) {
	m := empty(t)
	m.write("dotfiles/settings.json", "{}\n")
	if err := os.MkdirAll(m.name("home/.gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../dotfiles/settings.json", m.name("home/.gemini/settings.json")); err != nil {
		t.Fatal(err)
	}
	m.connect("gemini", m.options())
	if fi, err := os.Lstat(m.name("home/.gemini/settings.json")); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is replaced: %v, %v", fi, err)
	}
	if fi, err := os.Stat(m.name("dotfiles/settings.json")); err != nil || fi.Mode().Perm() != 0o640 || fi.Size() < 10 {
		t.Errorf("%v, %v", fi, err)
	}
	m.disconnect("gemini", m.options())
	if got := m.read("dotfiles/settings.json"); got != "{}\n" {
		t.Errorf("it became %q", got)
	}
	if err := os.Chmod(m.name("dotfiles/settings.json"), 0o440); err != nil {
		t.Fatal(err)
	}
	p, _ := Lookup("gemini")
	was := m.files()
	if _, _, err := Connect(p, m.options()); err == nil || !strings.Contains(err.Error(), "write-protected; nothing was changed") {
		t.Errorf("a write-protected file: %v", err)
	}
	if is := m.files(); !slices.Equal(was, is) {
		t.Errorf("a write-protected file: %q became %q", was, is)
	}
}

func TestHooksThatAreSwitchedOffAreNamed(t *testing.T) {
	for program, text := range map[string]string{"claude-code": `{"disableAllHooks": true}`, "gemini": `{"hooksConfig": {"enabled": false}}`} {
		m := empty(t)
		m.write(settings[program][0], text)
		p, _ := Lookup(program)
		_, next, err := Connect(p, m.options())
		if err != nil || !slices.ContainsFunc(next, func(s string) bool { return strings.HasPrefix(s, "Hooks are switched off: ") }) {
			t.Errorf("%s: %q, %v", program, next, err)
		}
	}
	m := empty(t)
	m.write(settings["gemini"][0], `{"hooksConfig": {"enabled": true, "disabled": ["other"]}}`)
	p, _ := Lookup("gemini")
	if s := Look(p, m.options()); s.Off != "" {
		t.Errorf("it is off: %s", s.Off)
	}
}

func TestAFileThatChangesMeanwhileIsNotOverwritten(t *testing.T) {
	m := empty(t)
	m.write("settings.json", "{}")
	f, err := readFile(m.name("settings.json"), m.name("state"))
	if err != nil {
		t.Fatal(err)
	}
	m.write("settings.json", `{"new": 1}`)
	if err := f.install([]byte("mine"), nil); err == nil || m.read("settings.json") != `{"new": 1}` {
		t.Errorf("%v; %s", err, m.read("settings.json"))
	}
}
