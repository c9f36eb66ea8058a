package notes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// refRow is a file or a large output as it stands.
type refRow struct {
	ctxabi.RefRow        // Summary is made when it is read
	last          string // what happened to it last
	tool          string
	changes       int
	size          int // of an output
	at            Position
	written       Position // of the last call of a tool, no shell, that wrote the whole file
}

// undoRef is a row as it was before a call.
type undoRef struct {
	tool string
	path string
	was  *refRow // nil: there was none
}

// rank returns how soon a ref may go, higher for sooner: outputs, then what was only read.
func (r *refRow) rank() int {
	switch {
	case r.Kind == ctxabi.RefArtifact:
		return 0
	case r.changes > 0:
		return 1
	case r.Kind == ctxabi.RefFile:
		return 2
	}
	return 3
}

// addFile notes what happened to a file last; the row keeps the id of the record that named it
// first.
func (n *State) addFile(f *Finding, id string, at Position) {
	row := refRow{RefRow: ctxabi.RefRow{ID: id, Path: f.Path, Kind: ctxabi.RefFile}, at: at, last: f.State, tool: f.Tool}
	if f.Tool == ctxabi.RefArtifact || isArtifact(f.Path) {
		row.Kind = ctxabi.RefArtifact
	}
	undo := undoRef{tool: f.Tool, path: f.Path}
	if i := slices.IndexFunc(n.refs, func(r refRow) bool { return r.Path == f.Path }); i >= 0 {
		was := n.refs[i]
		undo.was = &was
		row.ID, row.changes, row.written = was.ID, was.changes, was.written
		n.refs = slices.Delete(n.refs, i, i+1)
	}
	if f.State != fileRead {
		row.changes++
	}
	if f.State == fileWritten && f.Tool != shellTool {
		row.written = at
	}
	if len(n.called) < maxFiles {
		n.called = append(n.called, undo)
	}
	n.refs = append(n.refs, row)
}

// isArtifact reports whether a file lies in a directory for what agents make.
func isArtifact(p string) bool {
	return strings.HasPrefix(p, "artifact/") || strings.HasPrefix(p, "artifacts/") || strings.Contains(p, "/artifact/") || strings.Contains(p, "/artifacts/")
}

// addOutput notes a large output by the path where it stands decoded.
func (n *State) addOutput(f *Finding, id string, at Position) {
	row := refRow{RefRow: ctxabi.RefRow{ID: id, Path: ctxabi.LineDir + "/" + at.id("", 1) + ".txt", Kind: ctxabi.RefOutput}, at: at, tool: f.Tool, size: f.N}
	n.refs = append(n.refs, row)
}

// takeBack undoes what a failed call would have done to a file, if it is plain which call that
// was.
func (n *State) takeBack(f *Finding) {
	if f.State == "" || f.Tool == "" {
		return
	}
	of := -1
	for i := range n.called {
		if n.called[i].tool == f.Tool {
			if of >= 0 {
				return
			}
			of = i
		}
	}
	if of < 0 {
		return
	}
	u := n.called[of]
	n.called = slices.Delete(n.called, of, of+1)
	n.refs = slices.DeleteFunc(n.refs, func(r refRow) bool { return r.Path == u.path })
	if u.was != nil {
		n.refs = append(n.refs, *u.was)
	}
}

// WrittenAt returns the position of the last successful call of a tool, other than a shell, that wrote
// the whole file; the zero Position if none is known.
func (n *State) WrittenAt(path string) Position {
	for i := range n.refs {
		if n.refs[i].Path == path {
			return n.refs[i].written
		}
	}
	return Position{}
}

// Facts returns the rows of facts.jsonl, oldest first.
func (n *State) Facts() (out []ctxabi.FactRow) {
	for i := range n.facts {
		out = append(out, n.facts[i].FactRow)
	}
	return out
}

// Decisions returns the rows of decisions.jsonl, oldest first.
func (n *State) Decisions() (out []ctxabi.DecisionRow) {
	for i := range n.decisions {
		out = append(out, n.decisions[i].DecisionRow)
	}
	return out
}

// Refs returns the rows of refs.jsonl for files, artifacts and large outputs, those first that
// were used longest ago.
func (n *State) Refs() (out []ctxabi.RefRow) {
	for i := range n.refs {
		r := &n.refs[i]
		row := r.RefRow
		row.Source = r.at.Source()
		row.Summary = r.summary()
		out = append(out, row)
	}
	return out
}

// summary returns what happened to a file, or how large an output is: "changed 3 times, last
// read".
func (r *refRow) summary() string {
	if r.Kind == ctxabi.RefOutput {
		text := fmt.Sprintf("%d KiB", (r.size+512)>>10)
		if r.tool != "" {
			text += " of " + compress.Clip(r.tool, 48)
		}
		return text
	}
	switch {
	case r.changes == 0 || r.changes == 1 && r.last != fileRead:
		return r.last
	case r.changes == 1:
		return "changed once, last read"
	case r.last == fileChanged:
		return fmt.Sprintf("changed %d times", r.changes)
	}
	return fmt.Sprintf("changed %d times, last %s", r.changes, r.last)
}

// Item is something that is to do, or was.
type Item struct {
	Text         string
	Done, Active bool
	Spoken       bool // it was said in words, and stands in no list
	Source       string
}

// Items returns the items of todo.md, open ones first.
func (n *State) Items() (out []Item) {
	for _, done := range []bool{false, true} {
		for i := range n.items {
			if t := &n.items[i]; (t.state == todoDone) == done {
				out = append(out, Item{t.text, done, t.state == todoActive, t.until > 0 && t.list == "", t.at.Source()})
			}
		}
	}
	return out
}

// Todo returns a checklist in Markdown, open items first, each with its source; "" without any.
func (n *State) Todo() string {
	var b strings.Builder
	for _, t := range n.Items() {
		mark, active := " ", ""
		if t.Done {
			mark = "x"
		}
		if t.Active {
			active = "in progress, "
		}
		fmt.Fprintf(&b, "- [%s] %s (%s%s)\n", mark, t.Text, active, t.Source)
	}
	return b.String()
}

// Summary returns what was asked, concluded, decided and what failed, in Markdown, a line each
// with its source, in at most so many tokens by count. The first request stays, then the newest
// count most; failures take at most a quarter. It returns "" if there is nothing.
func (n *State) Summary(tokens int, count func(string) int) string {
	type line struct {
		text string
		at   int // in the order of the timeline
	}
	rows := make([]saidRow, 0, len(n.said)+len(n.decisions))
	rows = append(rows, n.said...)
	for i := range n.decisions {
		rows = append(rows, saidRow{FoundDecision, n.decisions[i].Decision, n.decisions[i].at, n.decisions[i].order})
	}
	slices.SortStableFunc(rows, func(a, b saidRow) int { return a.order - b.order })
	var lines []line
	known := map[string]bool{}
	room, failures := tokens, tokens/4
	add := func(i int) bool {
		r := &rows[i]
		if known[r.text] {
			return true
		}
		text := "- " + saidNames[r.kind] + ": " + r.text + " (" + r.at.Source() + ")\n"
		cost := count(text)
		if r.kind == FoundFailure {
			if cost > failures {
				return true
			}
			failures -= cost
		}
		if cost > room {
			return false
		}
		room -= cost
		known[r.text] = true
		lines = append(lines, line{text, i})
		return true
	}
	if first := slices.IndexFunc(rows, func(r saidRow) bool { return r.kind == FoundRequest }); first >= 0 {
		add(first)
	}
	for i := len(rows) - 1; i >= max(0, len(rows)-newestRows) && add(i); i-- {
	}
	for step := 1 << 16; step > 0; step /= 2 { // evenly over the rest
		for i := len(rows) - 1; i >= 0; i -= step {
			add(i)
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return a.at - b.at })
	var out strings.Builder
	for _, l := range lines {
		out.WriteString(l.text)
	}
	return out.String()
}

// newestRows is the number of newest rows that a summary has before older ones.
const newestRows = 8

var saidNames = map[FindingKind]string{FoundRequest: "Asked", FoundConclusion: "Concluded", FoundFailure: "Failed", FoundDecision: "Decided"}
