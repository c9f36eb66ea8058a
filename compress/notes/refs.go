package notes

import (
	"encoding/json"
	pathpkg "path"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// What happened to a file: the State of a finding.
const (
	fileRead    = "read"
	fileChanged = "changed"
	fileWritten = "written"
	fileRemoved = "removed"
)

// fileCall gives the files that a call of a tool reads or changes.
func fileCall(c Call) []Finding {
	name := strings.ToLower(c.Name)
	if i := strings.LastIndexAny(name, "./:"); i >= 0 {
		name = name[i+1:]
	}
	if strings.Contains(name, "patch") {
		if found := patched(c.Arguments); found != nil {
			return found
		}
	}
	var args map[string]any
	if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return nil
	}
	if command, _ := args["command"].(string); command != "" {
		switch command {
		case "view":
			name = "view"
		case "create":
			name = "create"
		case "str_replace", "insert", "undo_edit":
			name = "edit"
		default:
			return shellFiles(command)
		}
	}
	switch command := args["command"].(type) {
	case []any: // argv
		if n := len(command); n > 0 {
			script, _ := command[n-1].(string)
			return shellFiles(script)
		}
	}
	if cmd, _ := args["cmd"].(string); cmd != "" {
		return shellFiles(cmd)
	}
	state := fileState(name)
	if state == "" {
		return nil
	}
	for _, key := range compress.PathKeys {
		if p, ok := args[key].(string); ok && isFileName(p) {
			return []Finding{{Kind: FoundFile, Path: pathpkg.Clean(p), State: state, Tool: c.Name}}
		}
	}
	return nil
}

// fileState says what a tool does to a file by the words of its name; "" where that is not to be seen.
func fileState(name string) string {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(name, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("search", "grep", "glob", "list", "find", "ls"):
		return ""
	case has("delete", "remove", "unlink"):
		return fileRemoved
	case has("edit", "replace", "patch", "insert", "update", "append", "modify"):
		return fileChanged
	case has("write", "create", "save"):
		return fileWritten
	case has("read", "view", "open", "cat", "load"):
		return fileRead
	}
	return ""
}

// patched gives the files of a patch in the form of apply_patch.
func patched(text string) (out []Finding) {
	for _, mark := range []struct{ text, state string }{{"*** Update File: ", fileChanged}, {"*** Add File: ", fileWritten}, {"*** Delete File: ", fileRemoved}} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, mark.text)
			if !ok || len(out) >= maxFiles {
				break
			}
			end, _ := compress.LineEnd(after)
			if p := strings.Trim(after[:end], " \"'"); isFileName(p) {
				out = append(out, Finding{Kind: FoundFile, Path: pathpkg.Clean(p), State: mark.state, Tool: "apply_patch"})
			}
			rest = after
		}
	}
	return out
}

// maxFiles is how many files of one call are noted.
const maxFiles = 16

// isFileName says whether a string may be a file's name: no pattern, no option, no variable of a shell.
func isFileName(p string) bool {
	return p != "" && p != "-" && p != "." && p != ".." && p != "/" && len(p) < 256 && !strings.ContainsAny(p, "*?$`|&;<>(){}\"'\n\t\\=, ") &&
		!strings.HasPrefix(p, "-") && !strings.HasPrefix(p, "/dev/") && !strings.HasSuffix(p, "/") && strings.ToValidUTF8(p, "") == p
}

// shellFiles gives the files that a shell script plainly reads or writes: what cat, head, tail, sed -n and nl print, what is
// redirected to, edited in place, removed. A script that is not simple gives what of it is.
func shellFiles(script string) (out []Finding) {
	if found := patched(script); found != nil {
		return found
	}
	add := func(p, state string) {
		if p = strings.Trim(p, "'\""); isFileName(p) && len(out) < maxFiles {
			out = append(out, Finding{Kind: FoundFile, Path: pathpkg.Clean(p), State: state, Tool: "shell"})
		}
	}
	dir := ""
	heredoc := ""
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if heredoc != "" {
			if line == heredoc {
				heredoc = ""
			}
			continue
		}
		if _, mark, ok := strings.Cut(line, "<<"); ok && !strings.HasPrefix(mark, "<") {
			if words := strings.Fields(strings.TrimLeft(mark, "- ")); len(words) > 0 {
				heredoc = strings.Trim(words[0], "'\"\\")
			}
		}
		for _, command := range splitCommands(line) {
			words := strings.Fields(command)
			if len(words) == 0 {
				continue
			}
			if words[0] == "cd" {
				dir = "?"
				if len(words) == 2 && strings.HasPrefix(words[1], "/") {
					dir = words[1]
				}
				continue
			}
			at := func(p, state string) {
				q := strings.Trim(p, "'\"")
				if !pathpkg.IsAbs(q) && !strings.HasPrefix(q, "~") && dir != "" && dir != "?" {
					q = pathpkg.Join(dir, q)
				}
				if strings.ContainsAny(pathpkg.Base(q), ".") || strings.Contains(q, "/") {
					add(q, state)
				}
			}
			for i := 1; i < len(words); i++ {
				if words[i] == ">" || words[i] == ">>" {
					if i+1 < len(words) {
						at(words[i+1], map[string]string{">": fileWritten, ">>": fileChanged}[words[i]])
					}
					words = words[:i]
				} else if p := strings.TrimPrefix(words[i], ">>"); p != words[i] {
					at(p, fileChanged)
				} else if p := strings.TrimPrefix(words[i], ">"); p != words[i] && p[:min(1, len(p))] != "&" {
					at(p, fileWritten)
				}
			}
			shellCommand(words, at)
		}
	}
	return out
}

// shellCommand gives the files of one command.
func shellCommand(words []string, at func(p, state string)) {
	state, skip := "", 0 // how many operands are no files
	switch pathpkg.Base(words[0]) {
	case "cat", "head", "tail", "nl", "less", "more", "bat":
		state = fileRead
	case "sed":
		state, skip = fileRead, 1
		for _, w := range words[1:] {
			if strings.HasPrefix(w, "-i") || w == "--in-place" {
				state = fileChanged
			}
		}
	case "rm":
		state = fileRemoved
	case "tee":
		state = fileWritten
	case "open", "create": // of an agent's own interface
		if pathpkg.Base(words[0]) == "create" {
			state = fileWritten
		} else {
			state = fileRead
		}
		words = words[:min(len(words), 2)]
	default:
		return
	}
	quote := ""
	for i := 1; i < len(words); i++ {
		w := words[i]
		if quote != "" {
			if strings.HasSuffix(w, quote) {
				quote = ""
			}
			continue
		}
		if (w[0] == '\'' || w[0] == '"') && (len(w) == 1 || w[len(w)-1] != w[0]) {
			quote = w[:1]
			if skip > 0 {
				skip--
			}
			continue
		}
		if strings.HasPrefix(w, "-") || strings.HasPrefix(w, "<") || strings.HasPrefix(w, "2>") {
			if (w == "-n" || w == "-c") && i+1 < len(words) && strings.Trim(words[i+1], "0123456789+-") == "" {
				i++
			}
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		at(w, state)
	}
}

// splitCommands parts a line of a shell at ; && || and |, quotes aside.
func splitCommands(line string) (out []string) {
	from, quote := 0, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\\':
			i++
		case c == ';' || c == '|' || c == '&' && i+1 < len(line) && line[i+1] == '&':
			out = append(out, line[from:i])
			from = i + 1
		case c == '&' && from == i:
			from = i + 1
		}
	}
	return append(out, line[from:])
}

// artifactEvent reads an event that tells of a file which an agent made for others.
func artifactEvent(record string) []Finding {
	var args map[string]any
	if json.Unmarshal([]byte(record), &args) != nil {
		return nil
	}
	for _, key := range compress.PathKeys {
		if p, ok := args[key].(string); ok && isFileName(p) {
			return []Finding{{Kind: FoundFile, Path: pathpkg.Clean(p), State: fileWritten, Tool: ctxabi.RefArtifact}}
		}
	}
	return nil
}
