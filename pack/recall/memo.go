package recall

import "github.com/ctxfs/ctxfs/pack/journal"

// Memo is the memo of the journal with the index of all records, the last search, and the journal of
// a former pack.
type Memo struct {
	*journal.Memo
	Terms   *Terms // of the whole history
	shared  bool   // another owner of Terms counts its memory
	ranking *ranking
	journal *haystack // of a former pack, or nil
}

// NewMemo returns a memo with an index of its own.
func NewMemo(mm *journal.Memo) *Memo {
	return &Memo{Memo: mm, Terms: NewTerms(nil, 1)}
}

// Share replaces the index by one that others use, too.
func (mm *Memo) Share(x *Terms) { mm.Terms, mm.shared = x, true }

// Clear forgets everything that depends on the places of records.
func (mm *Memo) Clear() {
	mm.ranking, mm.journal = nil, nil
	mm.Terms.Clear()
	mm.Memo.Clear()
}

// Size estimates the memory of mm in bytes.
func (mm *Memo) Size() int {
	n := mm.Memo.Size()
	if mm.ranking != nil {
		n += 96 * len(mm.ranking.words)
		for _, t := range mm.ranking.turns {
			n += len(t.text) + 64*len(t.units)
			for _, u := range t.units {
				n += 8 * len(u.terms)
			}
		}
	}
	if h := mm.journal; h != nil {
		n += len(h.text) + 8*len(h.grams) + 96*len(h.found)
	}
	if !mm.shared {
		n += mm.Terms.Size()
	}
	return n
}
