package pack

import "github.com/ctxfs/ctxfs/pack/journal"

// recallMemo holds what one look for old records may reuse of those before it.
type recallMemo struct {
	*journal.Memo
	inventories map[string]*inventory // by the text
	recalled    *oldRecords           // as the last build saw them
	stands      *amongst              // what of them stands in the zones of the last build
}

func newRecallMemo(mm *journal.Memo) *recallMemo {
	return &recallMemo{Memo: mm, inventories: map[string]*inventory{}}
}

// forget forgets what the last build did not use.
func (mm *recallMemo) forget() {
	for key, v := range mm.inventories {
		if !v.used {
			delete(mm.inventories, key)
		}
		v.used = false
	}
	mm.Memo.Forget()
}

// clear forgets what hangs on the places of records.
func (mm *recallMemo) clear() {
	mm.recalled = nil
	mm.Memo.Clear()
}

// size is about how many bytes of memory mm holds.
func (mm *recallMemo) size() int {
	n := mm.Memo.Size()
	for _, v := range mm.inventories {
		n += v.size()
	}
	if mm.recalled != nil {
		n += mm.recalled.size()
	}
	if mm.stands != nil {
		n += mm.stands.size()
	}
	return n
}
