package install

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Part is what of ctxfs a program has: hooks, or the MCP server.
type Part string

const (
	Hooks  Part = "hooks" // for opencode a plugin
	Server Part = "MCP"
)

// Program is an agent program that can be connected.
type Program struct {
	Name  string // as on the command line; the agent of its sessions, too
	Title string
	bin   string // the program's own command
	files func(o Options) []target
	next  func(o Options) []string
	kept  string // the directory of transcripts that a plugin of ctxfs writes, beside that of the notes; "": none
}

// Options are what is to be connected, and how.
type Options struct {
	Project string // the directory of the project; "": for the user
	Hooks   bool
	Server  bool
	Command string // how ctxfs is called: a name in PATH, or an absolute path
	Mount   string // where ctxfs is mounted, absolute
	Agent   string // of the sessions; "": the program's name
	Home    string // of the user
	Getenv  func(string) string
	DryRun  bool // change nothing
}

func (o Options) getenv(name string) string {
	if o.Getenv == nil {
		return ""
	}
	return o.Getenv(name)
}

// stateDir returns the directory of the notes on what was changed.
func (o Options) stateDir() string {
	base := o.getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(o.Home, ".local", "state")
	}
	return filepath.Join(base, "ctxfs", "install")
}

// target is a piece of ctxfs and the file that it belongs in.
type target struct {
	file string
	part Part
	piece
	fresh string // what a file of settings begins with that is not there; "": nothing
}

// Programs are all programs that can be connected, in the order in which they are listed.
var Programs = []Program{
	{"claude-code", "Claude Code", "claude", claudeFiles, claudeNext, ""},
	{"codex", "Codex", "codex", codexFiles, codexNext, ""},
	{"gemini", "Gemini CLI", "gemini", geminiFiles, geminiNext, ""},
	{"opencode", "opencode", "opencode", opencodeFiles, opencodeNext, "opencode"},
}

// Lookup returns the program of a name.
func Lookup(name string) (Program, bool) {
	n := slices.IndexFunc(Programs, func(p Program) bool { return p.Name == name })
	if n < 0 {
		return Program{}, false
	}
	return Programs[n], true
}

// Names returns the names of all programs.
func Names() (names []string) {
	for _, p := range Programs {
		names = append(names, p.Name)
	}
	return names
}

// hookPatience is how long a program waits for a hook, in seconds.
const hookPatience = 30

func seconds(string) int { return hookPatience }

// hookWords returns the command of a hook, a word each.
func (o Options) hookWords(words ...string) []string {
	words = append([]string{o.Command, "hook"}, words...)
	if o.Agent != "" {
		words = append(words, "--agent", o.Agent)
	}
	return append(words, "--mount", o.Mount)
}

// hookLine returns the command of a hook for a shell. It succeeds without a ctxfs, too.
func (o Options) hookLine(words ...string) string {
	return Line(o.hookWords(words...)...) + " || true"
}

// serverWords returns the command of the MCP server, a word each.
func (o Options) serverWords(program string) []string {
	return []string{o.Command, "mcp", "--agent", cmp.Or(o.Agent, program), "--mount", o.Mount}
}

// serverFields returns the entry of a server for programs that have its command apart from its arguments.
func (o Options) serverFields(program string, before ...field) server {
	words := o.serverWords(program)
	return server{
		fields: append(before, field{"command", words[0]}, field{"args", words[1:]}),
		must:   []string{"command", "args"},
	}
}

func claudeFiles(o Options) []target {
	dir, state := filepath.Join(o.Home, ".claude"), filepath.Join(o.Home, ".claude.json")
	if d := o.getenv("CLAUDE_CONFIG_DIR"); d != "" {
		dir, state = d, filepath.Join(d, ".claude.json")
	}
	if old := filepath.Join(dir, ".config.json"); isFile(old) { // the program goes on with the one that it had
		state = old
	}
	hooks := hookSet{
		events:  []string{"SessionStart", "PreCompact", "PostCompact", "Stop", "SessionEnd"},
		command: o.hookLine(), timeout: seconds,
		off: func(v map[string]any) string {
			if v["disableAllHooks"] == true {
				return "disableAllHooks"
			}
			return ""
		},
	}
	mcp := o.serverFields("claude-code", field{"type", "stdio"})
	mcp.path = []string{"mcpServers"}
	settings := filepath.Join(dir, "settings.json")
	if o.Project != "" {
		settings = filepath.Join(o.Project, ".claude", "settings.local.json")
		mcp.path = []string{"projects", mainTree(o.Project), "mcpServers"}
	}
	return []target{{file: settings, part: Hooks, piece: hooks}, {file: state, part: Server, piece: mcp}}
}

func claudeNext(o Options) []string {
	return []string{"Claude Code reads its settings at its next start; it asks before the first use of each MCP tool"}
}

func codexFiles(o Options) []target {
	dir := cmp.Or(o.getenv("CODEX_HOME"), filepath.Join(o.Home, ".codex"))
	if o.Project != "" {
		dir = filepath.Join(o.Project, ".codex")
	}
	hooks := hookSet{
		events:  []string{"SessionStart", "PreCompact", "PostCompact", "Stop", "SessionEnd"},
		command: o.hookLine(),
		timeout: func(event string) int {
			if event == "SessionEnd" {
				return 3 // Codex waits for it before it ends
			}
			return hookPatience
		},
	}
	all := []target{{file: filepath.Join(dir, "hooks.json"), part: Hooks, piece: hooks}}
	text, _ := os.ReadFile(all[0].file)
	found, _ := hooks.own(text)
	server := o.serverWords("codex")
	if o.Hooks || len(found) > 0 { // Codex passes no variables to a server, which cannot find these hooks by itself
		server = slices.Insert(server, 2, "--hooks")
	}
	return append(all, target{file: filepath.Join(dir, "config.toml"), part: Server, piece: tomlServer{server}})
}

func codexNext(o Options) (next []string) {
	if o.Hooks {
		next = append(next, "Start codex once: it asks whether it may run the new hooks, and runs none before you agree")
	}
	if o.Project != "" {
		next = append(next, "Codex reads the settings of a project that it trusts: it asks at its first start there")
	}
	return next
}

func geminiFiles(o Options) []target {
	file := filepath.Join(cmp.Or(o.getenv("GEMINI_CLI_HOME"), o.Home), ".gemini", "settings.json")
	if o.Project != "" {
		file = filepath.Join(o.Project, ".gemini", "settings.json")
	}
	hooks := hookSet{
		events:  []string{"SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"},
		command: o.hookLine("--program", "gemini"), timeout: func(string) int { return hookPatience * 1000 }, name: ServerName,
		off: func(v map[string]any) string {
			c, _ := v["hooksConfig"].(map[string]any)
			if list, _ := c["disabled"].([]any); slices.Contains(list, any(ServerName)) {
				return "hooksConfig.disabled"
			}
			if c["enabled"] == false {
				return "hooksConfig.enabled"
			}
			return ""
		},
	}
	mcp := o.serverFields("gemini")
	mcp.path = []string{"mcpServers"}
	return []target{{file: file, part: Hooks, piece: hooks}, {file: file, part: Server, piece: mcp}}
}

func geminiNext(o Options) (next []string) {
	if o.Project != "" {
		next = append(next, "Gemini CLI reads the settings of a project that you trust: it asks at its first start there, or /permissions")
	}
	if o.Server {
		next = append(next, "Gemini CLI starts MCP servers only in a folder that you trust")
	}
	return append(next, "Gemini CLI reads its settings at its next start; /hooks panel and /mcp list show what is there")
}

func opencodeFiles(o Options) []target {
	base := o.getenv("XDG_CONFIG_HOME")
	if base == "" {
		base = filepath.Join(o.Home, ".config")
	}
	dir := filepath.Join(base, "opencode")
	if o.Project != "" {
		dir = filepath.Join(o.Project, ".opencode")
	}
	mcp := server{
		path: []string{"mcp"}, must: []string{"command"},
		fields: []field{{"type", "local"}, {"command", o.serverWords("opencode")}, {"enabled", true}},
	}
	config, has := filepath.Join(dir, "opencode.json"), false
	for _, name := range []string{"opencode.json", "opencode.jsonc"} { // both count; the later one more
		text, err := os.ReadFile(filepath.Join(dir, name))
		if found, _ := mcp.own(text); err == nil && !has {
			config, has = filepath.Join(dir, name), len(found) > 0
		}
	}
	return []target{
		{file: filepath.Join(dir, "plugin", "ctxfs.js"), part: Hooks, piece: plugin{o.hookWords("--program", "opencode")}},
		{file: config, part: Server, fresh: "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n", piece: mcp},
	}
}

func opencodeNext(o Options) []string {
	next := []string{"opencode reads its settings at its next start; opencode mcp list shows the server"}
	if o.Hooks {
		next = append(next, "opencode fetches a package of its own from npm, once, because there is a plugin")
	}
	return next
}

// mainTree returns the directory under which Claude Code keeps what is local to a project: that of the main working tree of its repository.
func mainTree(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		fi, err := os.Stat(filepath.Join(at, ".git"))
		switch {
		case err == nil && fi.IsDir():
			return at
		case err == nil:
			b, _ := os.ReadFile(filepath.Join(at, ".git"))
			git := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
			common, err := os.ReadFile(filepath.Join(git, "commondir"))
			if err != nil {
				return at // a submodule
			}
			if main := filepath.Join(git, strings.TrimSpace(string(common))); filepath.Base(main) == ".git" {
				return filepath.Dir(main)
			}
			return at
		case at == filepath.Dir(at):
			return dir
		}
	}
}

// ProjectOf returns the project that a directory is in: the working tree of its repository, else the directory itself.
func ProjectOf(dir string) string {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
	}
	return dir
}
