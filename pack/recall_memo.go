package pack

// recallMemo holds what one look for old records may reuse of those before it.
type recallMemo struct {
	*journalMemo
	inventories map[string]*inventory // by the text
	recalled    *oldRecords           // as the last build saw them
	stands      *amongst              // what of them stands in the zones of the last build
}

func newRecallMemo(mm *journalMemo) *recallMemo {
	return &recallMemo{journalMemo: mm, inventories: map[string]*inventory{}}
}

// forget forgets what the last build did not use.
func (mm *recallMemo) forget() {
	for key, v := range mm.inventories {
		if !v.used {
			delete(mm.inventories, key)
		}
		v.used = false
	}
	mm.journalMemo.forget()
}

// clear forgets what hangs on the places of records.
func (mm *recallMemo) clear() {
	mm.recalled = nil
	mm.journalMemo.clear()
}

// size is about how many bytes of memory mm holds.
func (mm *recallMemo) size() int {
	n := mm.journalMemo.size()
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
