package ledger

import (
	"path"
	"strings"
)

// Presence is whether a file is there.
type Presence uint8

const (
	Unsure Presence = iota
	Present
	Absent
)

// Kind is what a path is.
type Kind uint8

const (
	AnyKind Kind = iota
	Regular
	Directory
	Link
)

// Act is what happened to a file last.
type Act string

const (
	Read    Act = "read"
	Created Act = "created"
	Changed Act = "changed"
	Deleted Act = "deleted"
	Moved   Act = "moved"
	Copied  Act = "copied"
)

// File is what is known of one path.
type File struct {
	Path   string
	Exists Presence
	Kind   Kind
	Text   *Text   // what stands in it; nil if that is not known
	Change *Change // the newest change whose texts are known; nil if another one came after it

	Act     Act    // what happened to it last; if Exists is Unsure, what may have
	By      string // the tool or the command that did
	From    string // of a file that was moved or copied: where it was
	At      int    // the place of the record where that stands
	Created int    // the place where it was created; 0 if that was not seen
	Changes int    // how often it was created or changed
	Reads   int
	Seen    int // the place where its text was last shown or written, though it may have changed since

	to      string // of a link: what it names
	step    int    // of the newest fact about Exists
	haunted bool   // a program in the background may write it at any time
	shared  bool   // it has another name
}

// Text is a whole content.
type Text struct {
	Body  string // "" if Held is false
	Held  bool
	Loose bool // but for blanks and newlines at its end
	At    int  // the place of the record that has it, or the last part of it
	Bytes int
	Lines int
	step  int
}

// Change is a part of a file that was replaced. Both texts may be shortened.
type Change struct {
	Old, New string // Old is "" where New was added
	At       int
}

// newText returns a content; it holds no more than maxText bytes.
func newText(body string, at, step int) *Text {
	t := &Text{At: at, Bytes: len(body), Lines: lineCount(body), step: step}
	if len(body) <= maxText {
		t.Body, t.Held = strings.Clone(body), true
	}
	return t
}

// lineCount returns the number of lines of a text, of which the last may have no newline.
func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// maxChange is how many bytes of each text of a change are held.
const maxChange = 4 << 10

func newChange(old, text string, at int) *Change {
	return &Change{short(old), short(text), at}
}

// short returns a text of at most maxChange bytes, cut at a line.
func short(s string) string {
	if len(s) <= maxChange {
		return strings.Clone(s)
	}
	s = s[:maxChange]
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		s = s[:i+1]
	}
	return strings.ToValidUTF8(s, "") + "…"
}

// rooted reports whether a path does not depend on a directory.
func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/")
}

// clean returns a path in its shortest form; "" of the directory where a session began.
func clean(p string) string {
	if p = path.Clean(p); p == "." {
		return ""
	}
	return p
}

// rootOf returns what a path begins at: "/", "~", "" or one ".." or more of them.
func rootOf(p string) (root, rest string) {
	switch {
	case strings.HasPrefix(p, "/"):
		return "/", p[1:]
	case p == "~" || strings.HasPrefix(p, "~/"):
		return "~", strings.TrimPrefix(p[1:], "/")
	}
	rest = p
	for rest == ".." || strings.HasPrefix(rest, "../") {
		root += "../"
		rest = strings.TrimPrefix(rest[2:], "/")
	}
	return root, rest
}

// mayBeSame reports whether paths with different roots may be one file.
func mayBeSame(p, q string) bool {
	rootP, a := rootOf(p)
	rootQ, b := rootOf(q)
	if rootP == rootQ {
		return false
	}
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

func base(program string) string { return program[strings.LastIndexByte(program, '/')+1:] }

// under reports whether p is dir or lies below it.
func under(p, dir string) bool {
	return p == dir || dir == "" && !rooted(p) || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// in returns the path of a name in a directory.
func in(dir, name string) string { return clean(path.Join(dir, name)) }
