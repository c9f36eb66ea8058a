package recall

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	derived "github.com/ctxfs/ctxfs/compress/notes"
)

// LineBytes is the least number of bytes of a line that is compared with the pack.
const LineBytes = 8

// view answers whether the rest of the pack shows a line.
type view struct {
	journal *haystack // its first parts
	others  haystack
	done    map[string]bool // keys of to-do items that are done
}

// view returns the view of a pack without recall.
func (q *Query) view() *view {
	v := &view{done: map[string]bool{}}
	v.journal, v.others = q.haystacks()
	for _, t := range q.Memo.Notes(q.History, q.Fold.N).Items() {
		v.done[derived.ItemKey(t.Text)] = t.Done
	}
	for line := range strings.Lines(q.Todo) {
		if done, text, ok := derived.Checkbox(strings.TrimSpace(line)); ok {
			v.done[derived.ItemKey(text)] = done
		}
	}
	return v
}

// haystacks returns the text of the pack in two parts. The first one is a prefix of the journal that
// the next packs share until a compaction.
func (q *Query) haystacks() (*haystack, haystack) {
	var b strings.Builder
	for i := range q.Parts {
		b.WriteString(q.Parts[i].Text)
	}
	journal := b.String()
	kept := q.Memo.journal
	if kept == nil || !strings.HasPrefix(journal, kept.text) || len(journal) > 2*len(kept.text) {
		h := haystackOf(journal)
		kept = &h
		q.Memo.journal = kept
	}
	others := slices.Concat([]string{journal[len(kept.text):]}, q.Shown)
	return kept, haystackOf(strings.Join(others, ""))
}

// has reports whether the pack contains a line.
func (v *view) has(line string) bool { return v.journal.contains(line) || v.others.contains(line) }

// isDone reports whether a line is an open item of a list that is done now.
func (v *view) isDone(line string) bool {
	done, text, ok := derived.Checkbox(line)
	return ok && !done && v.done[derived.ItemKey(text)]
}

// wordsOf returns the words of a text in lower case, without punctuation.
func wordsOf(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(words, " ")
}

// gram is the number of adjacent bytes that a haystack knows.
const gram = 8

// haystack is a text that is searched for many lines most of which it lacks: it skips the search for
// a line with eight adjacent bytes that the text does not contain, and searches for each line once.
type haystack struct {
	text  string
	grams []uint64 // a bit for the hash of each eight adjacent bytes
	shift uint
	found map[string]bool // results of searches
}

func haystackOf(text string) haystack {
	if len(text) < gram {
		return haystack{text: text}
	}
	size := max(6, bits.Len(uint(8*len(text)))) // at least eight bits for each
	h := haystack{text, make([]uint64, 1<<(size-6)), uint(64 - size), map[string]bool{}}
	for at := 0; at+gram <= len(text); at++ {
		bit := h.bit(text[at:])
		h.grams[bit>>6] |= 1 << (bit & 63)
	}
	return h
}

// bit returns the place of the first eight bytes of s among the bits of h.
func (h *haystack) bit(s string) uint64 {
	var b [gram]byte
	copy(b[:], s)
	return binary.LittleEndian.Uint64(b[:]) * 0x9E3779B97F4A7C15 >> h.shift
}

// contains reports whether the text contains a line.
func (h *haystack) contains(line string) bool {
	if h.grams == nil {
		return strings.Contains(h.text, line)
	}
	for at := 0; at+gram <= len(line); at += gram {
		bit := h.bit(line[at:])
		if h.grams[bit>>6]&(1<<(bit&63)) == 0 {
			return false
		}
	}
	found, known := h.found[line]
	if !known {
		found = strings.Contains(h.text, line)
		h.found[line] = found
	}
	return found
}
