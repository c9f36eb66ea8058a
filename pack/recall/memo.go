package recall

import "github.com/ctxfs/ctxfs/pack/journal"

// Memo holds what one look for old records may reuse of those before it.
type Memo struct {
	*journal.Memo
	Terms       *Terms                 // of the whole history
	shared      bool                   // others have them, too
	inventories map[string]*inventory  // by the text
	recalled    *oldRecords            // as the last build saw them
	coming      map[int]*recordSegment // of live records, by the first of them: they are old after the next compaction
	inZones     *amongst               // what of them stands in the zones of the last build
}

// NewMemo returns an empty memo beside that of the journal.
func NewMemo(mm *journal.Memo) *Memo {
	return &Memo{Memo: mm, Terms: NewTerms(nil, 1), inventories: map[string]*inventory{}}
}

// Share makes mm use an index that others use, too, and that they account for.
func (mm *Memo) Share(x *Terms) { mm.Terms, mm.shared = x, true }

// Forget forgets what the last build did not use.
func (mm *Memo) Forget() {
	for key, v := range mm.inventories {
		if !v.used {
			delete(mm.inventories, key)
		}
		v.used = false
	}
	mm.Memo.Forget()
}

// Clear forgets what hangs on the places of records.
func (mm *Memo) Clear() {
	mm.recalled, mm.coming = nil, nil
	mm.Terms.Clear()
	mm.Memo.Clear()
}

// Size is about how many bytes of memory mm holds.
func (mm *Memo) Size() int {
	n := mm.Memo.Size()
	for _, v := range mm.inventories {
		n += v.size()
	}
	if mm.recalled != nil {
		n += mm.recalled.size()
	}
	for _, s := range mm.coming {
		n += s.size
	}
	if !mm.shared {
		n += mm.Terms.Size()
	}
	if mm.inZones != nil {
		n += mm.inZones.size()
	}
	return n
}
