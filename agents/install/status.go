package install

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Status is what ctxfs has in a program's settings.
type Status struct {
	Found  bool     // the program is in PATH, or has settings
	Hooks  bool     // all hooks are there
	Server bool     // the MCP server is there
	Mounts []string // that are written in, each once
	Agents []string // whose sessions the program's are, each once
	Off    string   // why the program runs no hooks, although they are there; "": it runs them
	Err    error    // a file cannot be read
}

// Look returns what of ctxfs is in a program's settings for the user, and where o has a project, for the project. Nothing is changed.
func Look(p Program, o Options) (s Status) {
	o.Hooks, o.Server = true, true
	_, err := exec.LookPath(p.bin)
	s.Found = err == nil
	scopes := []Options{o}
	if o.Project != "" {
		user := o
		user.Project = ""
		scopes = append(scopes, user)
	}
	for _, o := range scopes {
		hooks, server := true, false
		for _, t := range p.files(o) {
			text, err := os.ReadFile(t.file)
			if err == nil || o.Project == "" && isDir(filepath.Dir(t.file)) && filepath.Dir(t.file) != o.Home {
				s.Found = true
			}
			var found []entry
			if err == nil {
				if found, err = t.own(text); err != nil {
					s.Err = &os.PathError{Op: "read", Path: t.file, Err: err}
				}
			}
			s.note(found)
			if h, ok := t.piece.(hookSet); ok && err == nil {
				s.Off = cmp.Or(s.Off, h.offIn(text, t.file))
			}
			switch t.part {
			case Hooks:
				hooks = hooks && t.complete(found)
			case Server:
				server = server || len(found) > 0
			}
		}
		s.Hooks, s.Server = s.Hooks || hooks, s.Server || server
	}
	if len(s.Agents) == 0 {
		s.Agents = []string{p.Name}
	}
	return s
}

// offIn returns what in settings keeps the program from running hooks; "" if nothing does.
func (h hookSet) offIn(text []byte, file string) string {
	if h.off == nil {
		return ""
	}
	d, err := parseJSON(text)
	if err != nil {
		return ""
	}
	v, err := d.plain()
	if err != nil {
		return ""
	}
	if why := h.off(v); why != "" {
		return why + " in " + file
	}
	return ""
}

// complete reports whether nothing of a target is missing.
func (t target) complete(found []entry) bool {
	h, ok := t.piece.(hookSet)
	if !ok {
		return len(found) > 0
	}
	for _, event := range h.events {
		if !slices.ContainsFunc(found, func(e entry) bool { return e.where == "hooks."+event }) {
			return false
		}
	}
	return true
}

// note keeps the mounts and agents that entries name.
func (s *Status) note(found []entry) {
	keep := func(all *[]string, flag string, words []string) {
		if n := slices.Index(words, flag); n >= 0 && n+1 < len(words) && !slices.Contains(*all, words[n+1]) {
			*all = append(*all, words[n+1])
		}
	}
	for _, e := range found {
		keep(&s.Mounts, "--mount", e.words)
		keep(&s.Agents, "--agent", e.words)
	}
}

// HooksTell reports whether the user's settings of program, or the settings of the project at cwd,
// contain ctxfs hooks and do not disable them. Codex additionally requires the user's consent
// before it runs hooks.
func HooksTell(program, cwd string) bool {
	home, err := os.UserHomeDir()
	p, ok := Lookup(program)
	if err != nil || !ok {
		return false
	}
	o := Options{Home: home, Getenv: os.Getenv}
	if cwd != "" {
		o.Project = ProjectOf(cwd)
	}
	s := Look(p, o)
	return s.Hooks && s.Off == ""
}

// ProgramOf maps the client name that an MCP client sends to the name of its program; "" if ctxfs
// has no hooks for it.
func ProgramOf(client string) string {
	return map[string]string{
		"claude-code": "claude-code", "codex-mcp-client": "codex", "gemini-cli-mcp-client": "gemini", "opencode": "opencode",
	}[client]
}
