package pack

import (
	"context"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/tokens"
)

// journalMemo holds what one journal may reuse of those before it.
type journalMemo struct {
	space     space // that the folds were made for
	folds     map[foldRules]*folded
	zoned     map[zonesOf]*zones
	repeated  map[repeatsOf]*repeats
	counter   *tokens.Counter // of the build going on
	summaries []Summary       // likewise
	records   map[shownAs]rendered
	requests  map[int]string    // what users asked, by place
	costs     map[int]int32     // of images, by place
	tried     map[int][]attempt // how calls of the newest records ended, by place
	asks      map[int]string    // what the newest records say, by place
	finds     *finds            // what records say that is worth a note; see found
	nearby    *finds            // of a long history; see foundUpTo
	items     *items            // see derivedItems
	wants     noteWants         // of the build going on
	decided   []Decided         // that it shows
	ctx       context.Context   // of whoever waits for it; records are read no longer when that is over

	known   func(at record.Address) int         // a persisted count of a record in full, or 0
	counted func(at record.Address, tokens int) // told of each new one
}

func newJournalMemo() *journalMemo {
	return &journalMemo{ctx: context.Background(), folds: map[foldRules]*folded{}, zoned: map[zonesOf]*zones{}, repeated: map[repeatsOf]*repeats{}, records: map[shownAs]rendered{}, requests: map[int]string{}, tried: map[int][]attempt{}, costs: map[int]int32{}}
}

// found is what was found in the records.
func (mm *journalMemo) found() *finds {
	if mm.finds == nil {
		mm.finds = newFinds(nil)
	}
	return mm.finds
}

// request is the text of the user record at a place of m; "" for place 0.
func (mm *journalMemo) request(m record.Records, at int) (string, error) {
	if at == 0 {
		return "", nil
	}
	if text, ok := mm.requests[at]; ok {
		return text, nil
	}
	raw, err := m.Record(at)
	if err != nil {
		return "", record.Unreadable(record.AddressOf(m, at), err)
	}
	if len(mm.requests) > 2 {
		clear(mm.requests)
	}
	text := ctxabi.DecodeMessage(raw).Text
	mm.requests[at] = text
	return text, nil
}

// folded are the folds of all records and of all but the last. Neither changes any more.
type folded struct{ before, now *fold }

// fold folds m by rules, from where an earlier build left off.
func (mm *journalMemo) fold(m record.Records, rules foldRules) *fold {
	n, f := m.Len(), mm.folds[rules]
	switch {
	case f != nil && f.now.n == n:
		return f.now
	case f != nil && f.before.n == n:
		return f.before
	case f == nil || f.now.n > n:
		f = &folded{now: &fold{rules: rules}}
	}
	now := f.now.clone()
	before := f.now
	unread := false
	if c := mm.counter; c != nil && rules.scale == firstScale {
		now.exactly = func() (int64, bool) {
			n, err := mm.count(m, now.pieces(m, 0), c)
			unread = unread || err != nil
			return n, err == nil
		}
	}
	now.images = func(line int) int {
		n, err := mm.pictures(m, line)
		unread = unread || err != nil
		return n
	}
	now.idle = func(line int) bool {
		w, _, err := mm.sense(m, line)
		unread = unread || err != nil
		return err == nil && w != compress.Request
	}
	for now.n < n {
		if now.n == n-1 && before.n < n-1 {
			before = now.clone()
		}
		now.add(m.At(now.n + 1))
	}
	if n == 0 {
		before = now
	}
	now.exactly, now.idle, now.images = nil, nil, nil
	if unread { // a record that could not be read may be there next time
		delete(mm.folds, rules)
	} else {
		mm.folds[rules] = &folded{before, now}
	}
	return now
}

// forget forgets what the last build did not use.
func (mm *journalMemo) forget() {
	for key, r := range mm.records {
		if !r.used {
			delete(mm.records, key)
			continue
		}
		r.used = false
		mm.records[key] = r
	}
	for key, z := range mm.zoned {
		if !z.used {
			delete(mm.zoned, key)
		}
		z.used = false
	}
	for key, r := range mm.repeated {
		if !r.used {
			delete(mm.repeated, key)
		}
		r.used = false
	}
}

// clear forgets what hangs on the places of records.
func (mm *journalMemo) clear() {
	clear(mm.folds)
	clear(mm.zoned)
	clear(mm.repeated)
	clear(mm.records)
	clear(mm.requests)
	clear(mm.costs)
	clear(mm.asks)
	clear(mm.tried)
	mm.items = nil
}

// use says for which space the next build folds.
func (mm *journalMemo) use(l space) {
	if mm.space != l {
		mm.space = l
		clear(mm.folds)
		clear(mm.zoned)
		clear(mm.repeated)
	}
}

// size is about how many bytes of memory mm holds.
func (mm *journalMemo) size() int {
	n := 0
	for _, r := range mm.records {
		n += len(r.text) + 128 + 192*len(r.contents)
		for _, text := range r.instead {
			n += len(text) + 16
		}
	}
	n += 256*len(mm.tried) + 24*len(mm.costs)
	if mm.items != nil {
		n += mm.items.size()
	}
	for _, text := range mm.requests {
		n += len(text)
	}
	for _, f := range mm.folds {
		n += (cap(f.before.starts)+cap(f.now.starts))*128 + cap(f.now.cuts)*16 + 1024
	}
	for _, z := range mm.zoned {
		n += z.size()
	}
	for _, r := range mm.repeated {
		n += r.size()
	}
	return n
}
