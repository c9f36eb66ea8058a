package recall

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// amongst knows which lines stand in some texts that put several lines into one: folds, a summary and notes. These change with
// a compaction, and the same lines are looked for again at each build.
type amongst struct {
	texts []string
	all   haystack // these
	has   map[string]bool
}

// amongst is that of some texts, as it was where they are those of the last build.
func (mm *Memo) amongst(texts []string) *amongst {
	if a := mm.inZones; a != nil && slices.Equal(a.texts, texts) {
		return a
	}
	mm.inZones = &amongst{texts: texts, all: haystackOf(strings.Join(texts, "")), has: map[string]bool{}}
	return mm.inZones
}

// line reports whether a line stands in them.
func (a *amongst) line(line string) bool {
	if a.all.text == "" { // and would stay so for as long as the session lives
		return false
	}
	there, known := a.has[line]
	if !known {
		there = a.all.contains(line)
		a.has[line] = there
	}
	return there
}

func (a *amongst) size() int { return len(a.all.text) + 8*len(a.all.grams) + 48*len(a.has) }

// gram is how many bytes in a row a haystack knows.
const gram = 8

// haystack is a text in which many lines are looked for of which few stand in it: a line with eight bytes in a row that the text has
// nowhere needs not be looked for. It never changes.
type haystack struct {
	text  string
	grams []uint64 // a bit for the hash of each eight bytes in a row
	shift uint
}

func haystackOf(text string) haystack {
	if len(text) < gram {
		return haystack{text: text}
	}
	size := max(6, bits.Len(uint(8*len(text)))) // eight bits for each, or more
	h := haystack{text, make([]uint64, 1<<(size-6)), uint(64 - size)}
	var b [gram]byte
	copy(b[:], text)
	window := binary.LittleEndian.Uint64(b[:])
	for i := gram; ; i++ {
		bit := h.bit(window)
		h.grams[bit>>6] |= 1 << (bit & 63)
		if i == len(text) {
			return h
		}
		window = window>>8 | uint64(text[i])<<56
	}
}

// bit is the place of eight bytes among the bits of h.
func (h *haystack) bit(window uint64) uint64 { return window * 0x9E3779B97F4A7C15 >> h.shift }

// contains reports whether a line stands in the text.
func (h *haystack) contains(line string) bool {
	if h.grams != nil && len(line) >= gram {
		var b [gram]byte
		for at := 0; ; at = min(at+gram, len(line)-gram) {
			copy(b[:], line[at:])
			bit := h.bit(binary.LittleEndian.Uint64(b[:]))
			if h.grams[bit>>6]&(1<<(bit&63)) == 0 {
				return false
			}
			if at == len(line)-gram {
				break
			}
		}
	}
	return strings.Contains(h.text, line)
}
