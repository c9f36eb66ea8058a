package ledger

import (
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// fileFrame is what the editor of an agent's own shell prints above a file.
var fileFrame = lazy.Regexp(`^\s*\[File: (/[^\n]+) \((\d+) lines total\)\]\n`)

// agentCommand follows a command of an agent's own shell: create, open, edit, insert. It reports whether
// the script is one.
func (r *run) agentCommand(d *toolcall.Done, script string) bool {
	word := script
	if i := strings.IndexAny(script, " \n"); i >= 0 {
		word = script[:i]
	}
	switch word {
	case "create", "open", "edit", "insert", "goto", "scroll_up", "scroll_down", "search_file", "set_cursors":
	default:
		return false
	}
	m := fileFrame().FindStringSubmatch(d.Result.Text)
	if m == nil {
		return word != "open" && word != "insert" || strings.Contains(d.Result.Text, "edit")
	}
	p := clean(m[1])
	rest := d.Result.Text[len(m[0]):]
	if word == "create" || word == "open" {
		if name := strings.Trim(strings.TrimSpace(strings.TrimPrefix(script, word)), `"'`); r.base == "" && name != "" && !rooted(name) && !strings.ContainsAny(name, " \n") && !strings.Contains(name, "..") && strings.HasSuffix(p, "/"+name) {
			r.learnBase(clean(strings.TrimSuffix(p, "/"+name)))
			r.written = true
		}
	}
	switch word {
	case "edit", "insert":
		body, _, _ := strings.Cut(strings.TrimPrefix(script, word), "\nend_of_edit")
		if _, after, ok := strings.Cut(body, "\n"); ok && word == "edit" {
			body = after
		}
		r.change(p, newChange("", strings.Trim(body, "'\" "), r.at), nil)
	case "create":
		r.write(p, nil, false)
	}
	r.window(p, rest, m[2])
	return true
}

// window notes what an agent's editor shows of a file, if it is all of it.
func (r *run) window(p, shown, total string) {
	n, _ := strconv.Atoi(total)
	var b strings.Builder
	got := 0
	for line := range strings.Lines(shown) {
		if m := numbered().FindStringSubmatch(line); m != nil && m[1] == strconv.Itoa(got+1) {
			_, text, _ := strings.Cut(line, ":")
			b.WriteString(text)
			got++
		}
	}
	if got != n || r.unsure {
		r.seen(p)
		return
	}
	i, known := r.find(p)
	var change *Change
	if known {
		change = r.files[i].Change
	}
	r.shown(p, b.String(), true)
	r.edit(p).Change = change
}
