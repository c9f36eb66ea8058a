package notes

import (
	"encoding/json"
	pathpkg "path"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// shellTool is the Tool of findings from the script of a shell.
const shellTool = "shell"

// What happened to a file: the State of a finding.
const (
	fileRead    = toolcall.Reads
	fileChanged = toolcall.Changes
	fileWritten = toolcall.Writes
	fileRemoved = toolcall.Removes
)

// fileCall returns the files that a call of a tool reads or changes.
func fileCall(c Call) []Finding {
	name := c.Name
	if strings.Contains(strings.ToLower(name), "patch") {
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
	state := toolcall.FileAct(name)
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

// patched returns the files of a patch in the form of apply_patch.
func patched(text string) (out []Finding) {
	for _, f := range toolcall.PatchedFiles(text) {
		if isFileName(f.Path) && len(out) < maxFiles {
			out = append(out, Finding{Kind: FoundFile, Path: pathpkg.Clean(f.Path), State: f.Act, Tool: "apply_patch"})
		}
	}
	return out
}

// maxFiles is how many files of one call are noted.
const maxFiles = 16

// isFileName reports whether a string may be a file's name: no pattern, no option, no variable
// of a shell.
func isFileName(p string) bool {
	return p != "" && p != "-" && p != "." && p != ".." && p != "/" && len(p) < 256 && !strings.ContainsAny(p, "*?$`|&;<>(){}\"'\n\t\\=, ") &&
		!strings.HasPrefix(p, "-") && !strings.HasPrefix(p, "/dev/") && !strings.HasSuffix(p, "/") && strings.ToValidUTF8(p, "") == p
}

// shellFiles returns the files that a shell script plainly reads or writes: what cat, head, tail,
// sed -n and nl print, what is redirected to, edited in place, removed. Of a script that is not
// simple it returns those of the part that is.
func shellFiles(script string) []Finding {
	if found := patched(script); found != nil {
		return found
	}
	var r shellReader
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
			if words := strings.Fields(command); len(words) > 0 {
				r.read(words)
			}
		}
	}
	return r.out
}

// shellReader reads the commands of one script.
type shellReader struct {
	dir string // where it is, as far as that is plain: "" where it began, "?" somewhere
	out []Finding
}

// add notes a file, if a word of a command is plainly one.
func (r *shellReader) add(word, state string) {
	p := strings.Trim(word, "'\"")
	if !pathpkg.IsAbs(p) && !strings.HasPrefix(p, "~") && r.dir != "" && r.dir != "?" {
		p = pathpkg.Join(r.dir, p)
	}
	if !strings.ContainsAny(pathpkg.Base(p), ".") && !strings.Contains(p, "/") {
		return
	}
	if p = strings.Trim(p, "'\""); isFileName(p) && len(r.out) < maxFiles {
		r.out = append(r.out, Finding{Kind: FoundFile, Path: pathpkg.Clean(p), State: state, Tool: shellTool})
	}
}

// read reads one command: what it redirects to, then its operands.
func (r *shellReader) read(words []string) {
	if words[0] == "cd" {
		r.dir = "?"
		if len(words) == 2 && strings.HasPrefix(words[1], "/") {
			r.dir = words[1]
		}
		return
	}
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case w == ">" || w == ">>":
			if i+1 < len(words) {
				r.add(words[i+1], map[string]string{">": fileWritten, ">>": fileChanged}[w])
			}
			words = words[:i]
		case strings.HasPrefix(w, ">>"):
			r.add(w[2:], fileChanged)
		case strings.HasPrefix(w, ">") && !strings.HasPrefix(w, ">&"):
			r.add(w[1:], fileWritten)
		}
	}
	if state, skip, most := fileCommand(words); state != "" {
		r.operands(words[1:min(len(words), most+1)], skip, state)
	}
}

// fileCommand returns what a command does to the files among its operands, how many operands
// before these are none, and how many there are at most; state is "" for a command that is not known.
func fileCommand(words []string) (state string, skip, most int) {
	switch pathpkg.Base(words[0]) {
	case "cat", "head", "tail", "nl", "less", "more", "bat":
		return fileRead, 0, len(words)
	case "sed":
		for _, w := range words[1:] {
			if strings.HasPrefix(w, "-i") || w == "--in-place" {
				return fileChanged, 1, len(words)
			}
		}
		return fileRead, 1, len(words)
	case "rm":
		return fileRemoved, 0, len(words)
	case "tee":
		return fileWritten, 0, len(words)
	case "create": // of an agent's own interface
		return fileWritten, 0, 1
	case "open":
		return fileRead, 0, 1
	}
	return "", 0, 0
}

// operands notes the operands of a command but for the first skip, options and what is quoted with
// blanks in it.
func (r *shellReader) operands(words []string, skip int, state string) {
	quote := ""
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case quote != "":
			if strings.HasSuffix(w, quote) {
				quote = ""
			}
		case (w[0] == '\'' || w[0] == '"') && (len(w) == 1 || w[len(w)-1] != w[0]):
			quote = w[:1]
			skip--
		case strings.HasPrefix(w, "-") || strings.HasPrefix(w, "<") || strings.HasPrefix(w, "2>"):
			if (w == "-n" || w == "-c") && i+1 < len(words) && strings.Trim(words[i+1], "0123456789+-") == "" {
				i++
			}
		case skip > 0:
			skip--
		default:
			r.add(w, state)
		}
	}
}

// splitCommands returns the parts of a line of a shell between ; && || and |, quotes aside.
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

// artifactEvent returns the file that an agent made for others, by an event about it.
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
