package recall

import (
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
)

// LineBytes is how many bytes a line has at least that says something of its own; a shorter one may stand anywhere.
const LineBytes = 8

// view knows which lines and identifiers of some passages stand in a pack.
type view struct {
	shown map[string]bool // lines of the passages
	named map[string]bool // identifiers of the passages
	done  map[string]bool // items of lists by their keys: whether the pack has them ticked
	among *amongst
}

func newView(hits []oldHit, among *amongst) *view {
	s := &view{shown: map[string]bool{}, named: map[string]bool{}, done: map[string]bool{}, among: among}
	for i := range hits {
		h := &hits[i]
		for _, l := range h.lines {
			if l.to-l.from >= LineBytes {
				s.shown[h.text()[l.from:l.to]] = false
			}
		}
		for _, w := range h.words {
			s.named[w] = false
		}
	}
	return s
}

// inventory is what a view looks for in a text of the pack: its telling lines and its identifiers.
type inventory struct {
	lines, words []string
	boxes        []checkbox
	used         bool // by the build going on
}

// checkbox is an item of a list.
type checkbox struct {
	key  string
	done bool
}

// boxOf reads an item with a check box off a line.
func boxOf(line string) (box checkbox, ok bool) {
	done, text, ok := derived.Checkbox(line)
	if !ok {
		return box, false
	}
	return checkbox{derived.ItemKey(text), done}, true
}

// inventory returns that of a text. Most texts of a pack stand in the next one, too.
func (mm *Memo) inventory(text string) *inventory {
	v, ok := mm.inventories[text]
	if !ok {
		v = &inventory{words: compress.Identifiers(text, len(text))}
		add := func(line string) {
			if len(line) >= LineBytes {
				v.lines = append(v.lines, line)
			}
		}
		compress.EachLine(text, func(_ int, line string) {
			add(line)
			if box, ok := boxOf(line); ok {
				v.boxes = append(v.boxes, box)
			}
			if line[0] == '[' { // a key line behind the number of its record
				if _, rest, ok := strings.Cut(line, "] "); ok {
					add(strings.TrimSpace(rest))
				}
			}
		})
		mm.inventories[text] = v
	}
	v.used = true
	return v
}

func (v *inventory) size() int { return 64 + 16*(len(v.lines)+len(v.words)) + 64*len(v.boxes) }

// add notes what stands in a text of the pack.
func (s *view) add(v *inventory) {
	for _, line := range v.lines {
		if _, asked := s.shown[line]; asked {
			s.shown[line] = true
		}
	}
	for _, b := range v.boxes {
		s.done[b.key] = b.done
	}
	for _, w := range v.words {
		if _, asked := s.named[w]; asked {
			s.named[w] = true
		}
	}
}

// has reports whether a line stands in the pack, or is an open item that is done by now.
func (s *view) has(line string) bool {
	return s.shown[line] || s.among.line(line) || s.isOver(line)
}

// isOver reports whether a line is an open item that is done by now.
func (s *view) isOver(line string) bool {
	box, ok := boxOf(line)
	return ok && !box.done && s.done[box.key]
}

// freshen counts the identifiers of each passage that do not stand in the pack.
func (s *view) freshen(hits []oldHit) {
	for i := range hits {
		h := &hits[i]
		h.fresh = 0
		for _, w := range h.words {
			if !s.named[w] {
				h.fresh++
			}
		}
	}
}

// unseen returns the longest part of a passage, in bytes of its record, none of whose lines stands in the pack.
func (s *view) unseen(h *oldHit) (from, to int) {
	from, to = longestRun(h.text(), h.lines, s.has, s.isOver)
	return h.From + from, h.From + to
}

// take notes that a passage stands in the pack now.
func (s *view) take(h *oldHit) {
	for _, l := range h.lines {
		if line := h.text()[l.from:l.to]; len(line) >= LineBytes {
			s.shown[line] = true
		}
	}
	for _, w := range h.words {
		s.named[w] = true
	}
}

// chosen lists the texts of passages that were chosen, one below the other, as wordsOf returns them.
type chosen struct{ texts strings.Builder }

// add adds a text and reports true, or reports false if a chosen passage contains the same words.
func (c *chosen) add(text string) bool {
	words := wordsOf(text)
	if words == "" || strings.Contains(c.texts.String(), words) {
		return words == ""
	}
	c.texts.WriteString(words + "\n")
	return true
}

// wordsOf returns the words of a text in lower case, between single blanks, without punctuation.
func wordsOf(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ") + " "
}

// seen returns a view of everything that the pack shows.
func (q *Query) seen() *view {
	v := &view{shown: map[string]bool{}, done: map[string]bool{}, among: &amongst{has: map[string]bool{}}}
	add := func(text string) {
		seen := q.Memo.inventory(text)
		for _, line := range seen.lines {
			v.shown[line] = true
		}
		v.add(seen)
	}
	var several strings.Builder // texts that join lines, or have a part of one
	for _, text := range q.Shown {
		add(text)
	}
	for i := range q.Parts {
		p := &q.Parts[i]
		add(p.Text)
		if p.Zone != 0 || p.How != "" {
			several.WriteString(p.Text)
		}
	}
	q.ticked(v.done)
	v.among.all = haystackOf(several.String())
	return v
}
