package notes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// refRow is the present state of a file or of a large output.
type refRow struct {
	ctxabi.RefRow        // Summary is made when it is read
	last          string // its last change; toolcall.Reads if it was only read
	tool          string
	size          int // of an output
	at            Position
	written       Position // of the last call of a tool, no shell, that wrote the whole file
	was           *refRow  // the row before the last call; nil: there was none
}

// changed reports whether the row is a file that was changed.
func (r *refRow) changed() bool { return r.Kind == ctxabi.RefFile && r.last != toolcall.Reads }

// addFile notes what happened to a file last; the row keeps the id of the record that named it
// first.
func (n *State) addFile(f *Finding, id string, at Position) {
	row := refRow{RefRow: ctxabi.RefRow{ID: id, Path: f.Path, Kind: ctxabi.RefFile}, at: at, last: f.State, tool: f.Tool}
	if f.Tool == ctxabi.RefArtifact || isArtifact(f.Path) {
		row.Kind = ctxabi.RefArtifact
	}
	if i := slices.IndexFunc(n.refs, func(r refRow) bool { return r.Path == f.Path }); i >= 0 {
		was := n.refs[i]
		was.was = nil
		row.ID, row.written, row.was = was.ID, was.written, &was
		if row.last == toolcall.Reads {
			row.last = was.last
		}
		n.refs = slices.Delete(n.refs, i, i+1)
	}
	if f.State == toolcall.Writes && f.Tool != shellTool {
		row.written = at
	}
	n.refs, n.called = append(n.refs, row), at
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
	isFailed := func(r refRow) bool {
		return r.at == n.called && r.tool == f.Tool && f.Tool != "" && r.Kind != ctxabi.RefOutput
	}
	i := slices.IndexFunc(n.refs, isFailed)
	if i < 0 || slices.ContainsFunc(n.refs[i+1:], isFailed) {
		return
	}
	was := n.refs[i].was
	if n.refs = slices.Delete(n.refs, i, i+1); was != nil {
		n.refs = append(n.refs, *was)
	}
}

// WrittenAt returns the position of the last successful call of a tool, other than a shell, that
// wrote the whole file; the zero Position if none is known.
func (n *State) WrittenAt(path string) Position {
	for i := range n.refs {
		if n.refs[i].Path == path {
			return n.refs[i].written
		}
	}
	return Position{}
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

// summary returns the last change of a file, or how large an output is.
func (r *refRow) summary() string {
	if r.Kind == ctxabi.RefOutput {
		text := fmt.Sprintf("%d KiB", (r.size+512)>>10)
		if r.tool != "" {
			text += " of " + compress.Clip(r.tool, 48)
		}
		return text
	}
	return r.last
}
