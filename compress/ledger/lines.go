package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// Options are how [State.Lines] shows files.
type Options struct {
	Chars int                 // how many bytes the lines may take, newlines among them
	Where func(at int) string // how a place is called; nil: by its number
	Reads bool                // files that were only read are shown, too
	Since int                 // only files to which something happened behind this place are shown
}

// What a file's lines take.
const (
	maxLine    = 240
	fewHeads   = 4   // files whose lines come before all that stands in one
	excerpts   = 0.6 // of the budget for what stands in files
	minExcerpt = 80  // bytes
	maxExcerpt = 24  // lines of what stands in one file
	longExc    = 160 // bytes of a line of it
	fewBytes   = 24  // that a line of it takes at least, nearly always
)

// Lines returns a line for each file that was created, changed, moved or deleted, the newest first, and below
// those that matter most what changed last or what stands in them, with "  | " before each line. They take
// at most o.Chars bytes. What is not known is said to be so.
func (s State) Lines(o Options) []string {
	if o.Where == nil {
		o.Where = strconv.Itoa
	}
	files := s.shown(o)
	left := o.Chars
	kept := int(float64(o.Chars) * excerpts)
	heads := make([]string, 0, len(files))
	older, note := -1, "" // from where on a program ran since, and the line that says so
	for i, f := range files {
		line := s.line(f, o)
		if r, ok := s.RanSince(f); ok && older < 0 {
			note = "Below, as of before `" + r.By + "` (" + o.Where(r.At) + "), which may have changed files:"
			if older = i; len(note)+1 > left/2 {
				break
			}
			left -= len(note) + 1
		}
		if len(line)+1 > left || len(heads) >= fewHeads && len(line)+1 > left-kept {
			break
		}
		left -= len(line) + 1
		heads = append(heads, line)
	}
	// The most telling files show what stands in them, in shares that become smaller.
	order := make([]int, len(heads))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight(files[b], b), weight(files[a], a)) })
	bodies := make([][]string, len(heads))
	for _, i := range order {
		bodies[i] = s.excerpt(files[i], left/2)
		for _, l := range bodies[i] {
			left -= len(l) + 1
		}
	}
	out := make([]string, 0, len(heads)+1)
	for i, head := range heads {
		if i == older {
			out = append(out, note)
		}
		out = append(append(out, head), bodies[i]...)
	}
	return out
}

// shown returns the files that have a line, the newest first.
func (s State) shown(o Options) (files []*File) {
	for _, f := range s.files {
		switch {
		case f.At <= o.Since:
		case f.Act == "" || f.Kind == Directory && f.Exists == Present:
		case f.Act == Read && !o.Reads:
		case f.Kind == Directory && f.Exists != Absent:
		case f.Changes == 0 && f.Exists == Absent && s.goneAbove(f):
		default:
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b *File) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.step, a.step)) })
	return files
}

// goneAbove reports whether a directory above a file that is gone is gone, too, which says it all.
func (s State) goneAbove(f *File) bool {
	for p := f.Path; ; {
		i := strings.LastIndexByte(p, '/')
		if i <= 0 {
			return false
		}
		p = p[:i]
		if j, ok := s.find(p); ok && s.files[j].Exists == Absent && s.files[j].At == f.At {
			return true
		}
	}
}

// weight is how much a file matters that has the i-th newest line.
func weight(f *File, i int) float64 {
	return float64(min(f.Changes, 6)+min(f.Reads, 2)+1) / float64(i+2)
}

// line returns what is known of a file in one line.
func (s State) line(f *File, o Options) string {
	var b strings.Builder
	b.WriteString(s.shortPath(f.Path) + ": ")
	at := " (" + o.Where(f.At) + ")"
	switch {
	case f.Exists == Unsure:
		verb := map[Act]string{Created: "may have been created", Deleted: "may have been deleted", Moved: "may have been moved", Copied: "may have been overwritten"}[f.Act]
		if verb == "" {
			verb = "may have changed or be gone"
		}
		b.WriteString("state unknown: " + verb + " by " + f.named() + at)
	case f.Exists == Absent && f.Act == Moved && f.From != "":
		b.WriteString("moved to " + s.shortPath(f.From) + at)
	case f.Exists == Absent:
		b.WriteString("deleted" + at)
	case f.Kind == Link:
		b.WriteString("a link to " + f.to + at)
	default:
		s.present(&b, f, o, at)
	}
	return compress.Clip(strings.ReplaceAll(b.String(), "\n", " "), maxLine)
}

// present writes what is known of a file that is there.
func (s State) present(b *strings.Builder, f *File, o Options, at string) {
	switch {
	case f.Act == Copied && f.From != "":
		b.WriteString("copy of " + s.shortPath(f.From) + " as of then" + at)
	case f.Act == Moved && f.From != "":
		b.WriteString("moved from " + s.shortPath(f.From) + at)
	case f.Act == Read:
		b.WriteString("read" + at)
	default:
		if f.Created > 0 {
			b.WriteString("created (" + o.Where(f.Created) + ")")
		}
		changes := f.Changes
		if f.Created > 0 {
			changes--
		}
		if changes > 0 {
			if f.Created > 0 {
				b.WriteString(", ")
			}
			b.WriteString("changed")
			if changes > 1 {
				fmt.Fprintf(b, " %d times, last", changes)
			}
			b.WriteString(at)
		}
	}
	switch {
	case s.fresh(f):
		fmt.Fprintf(b, "; %d lines, %s", f.Text.Lines, size(f.Text.Bytes))
	case f.Change == nil && f.Text == nil && f.Act != Read:
		b.WriteString("; content unknown")
		if f.By != "" && f.Act == Changed {
			b.WriteString(" after " + f.named())
		}
	}
}

// named returns what acted on a file last.
func (f *File) named() string {
	if f.By == "" {
		return "a command"
	}
	if strings.Contains(f.By, " ") {
		return "`" + f.By + "`"
	}
	return f.By
}

// shortPath returns a path from where the session began.
func (s State) shortPath(p string) string {
	if s.base != "" && strings.HasPrefix(p, s.base+"/") && s.base != "/" {
		return p[len(s.base)+1:]
	}
	return p
}

func size(n int) string {
	if n < 1024 {
		return strconv.Itoa(n) + " B"
	}
	return fmt.Sprintf("%.1f KB", float64(n)/1024)
}

// fresh reports whether f's text does not follow from one that a program may have changed before.
func (s State) fresh(f *File) bool {
	return f.Text != nil && (f.Text.step >= f.step || s.SureText(f))
}

// excerpt returns the newest change of a file, or what stands in it, in at most chars bytes.
func (s State) excerpt(f *File, chars int) (out []string) {
	if f.Exists != Present || chars < minExcerpt {
		return nil
	}
	switch {
	case f.Change != nil && (!s.fresh(f) || f.Text.Lines > maxExcerpt):
		lines := diff(f.Change)
		if out = fitted(lines, chars); len(out) < len(lines) { // what is there now comes first
			if added := slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "-") }); len(added) > 0 {
				out = fitted(added, chars)
			}
		}
		return out
	case s.fresh(f) && f.Text.Held && f.Act != Copied && f.Act != Moved && f.Changes > 0:
		lines := compress.Outline(f.Text.Body, min(maxExcerpt, chars/fewBytes))
		out = fitted(lines, chars-20)
		if more := f.Text.Lines - len(out); more > 0 && len(out) > 0 {
			out = append(out, fmt.Sprintf("  | … %d more", more))
		}
	}
	return out
}

// diff returns the lines of a change that differ.
func diff(c *Change) (out []string) {
	old, text := strings.SplitAfter(c.Old, "\n"), strings.SplitAfter(c.New, "\n")
	if c.Old == "" {
		old = nil
	}
	if c.New == "" {
		text = nil
	}
	for len(old) > 0 && len(text) > 0 && old[0] == text[0] {
		old, text = old[1:], text[1:]
	}
	for len(old) > 0 && len(text) > 0 && old[len(old)-1] == text[len(text)-1] {
		old, text = old[:len(old)-1], text[:len(text)-1]
	}
	for i, l := range old {
		if i == 3 && len(old) > 4 { // what is there now says more
			out = append(out, fmt.Sprintf("- … %d more", len(old)-i))
			break
		}
		if strings.TrimSpace(l) != "" {
			out = append(out, "- "+l)
		}
	}
	for _, l := range text {
		if strings.TrimSpace(l) != "" {
			out = append(out, "+ "+l)
		}
	}
	return out[:min(len(out), maxExcerpt)]
}

// fitted returns the first of lines that fit into chars bytes, marked as what stands in a file.
func fitted(lines []string, chars int) (out []string) {
	for _, l := range lines {
		l = strings.TrimRight(strings.ReplaceAll(l, "\t", "  "), " \r\n")
		if len(l) > longExc {
			cut := longExc
			for !utf8.RuneStart(l[cut]) {
				cut--
			}
			l = l[:cut] + "…"
		}
		if l = "  | " + l; chars < len(l)+1 {
			break
		}
		chars -= len(l) + 1
		out = append(out, l)
	}
	return out
}
