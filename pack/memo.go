package pack

import (
	"context"
	"crypto/sha256"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// memo holds what one build may reuse of the builds before it. Nothing in it
// changes what a build is, only how long it takes.
type memo struct {
	limits      limits // that the folds were made for
	folds       map[foldRules]*folded
	zoned       map[zonesOf]*zones
	repeated    map[repeatsOf]*repeats
	counter     *tokens.Counter // of the build going on
	summaries   []Summary       // likewise
	records     map[shownAs]rendered
	blocks      map[[sha256.Size]byte]cached
	requests    map[int]string        // what users asked, by place
	costs       map[int]int32         // of images, by place
	inventories map[string]*inventory // by the text
	quoted      quote
	recalled    *oldRecords       // as the last build saw them
	stands      *amongst          // what of them stands in the zones of the last build
	tried       map[int][]attempt // how calls of the newest records ended, by place
	asks        map[int]string    // what the newest records say, by place
	corpora     *corpora
	parsed      *parsedTools    // of the last build
	finds       *finds          // what records say that is worth a note; see found
	nearby      *finds          // of a long history; see foundUpTo
	items       *items          // see derivedItems
	wants       noteWants       // of the build going on
	decided     []Decided       // that it shows
	ctx         context.Context // of whoever waits for it; records are read no longer when that is over
	rendered    int             // blocks that were made and not found here, so far

	known   func(at address) int         // a persisted count of a record in full, or 0
	counted func(at address, tokens int) // told of each new one

	messages, tools int // that the last build knew
	last            drafted
}

func newMemo() *memo {
	return &memo{ctx: context.Background(), folds: map[foldRules]*folded{}, zoned: map[zonesOf]*zones{}, repeated: map[repeatsOf]*repeats{}, records: map[shownAs]rendered{}, blocks: map[[sha256.Size]byte]cached{}, requests: map[int]string{}, tried: map[int][]attempt{}, costs: map[int]int32{}, inventories: map[string]*inventory{}, corpora: newCorpora()}
}

// found is what was found in the records.
func (mm *memo) found() *finds {
	if mm.finds == nil {
		mm.finds = newFinds(nil)
	}
	return mm.finds
}

// made returns the block that key names, by making it where it is not known.
func (mm *memo) made(key [sha256.Size]byte, make func() cached) cached {
	r, ok := mm.blocks[key]
	if !ok {
		r = make()
		mm.rendered++
	}
	if !r.used {
		r.used = true
		mm.blocks[key] = r
	}
	return r
}

// request is the text of the user record at a place of m; "" for place 0.
func (mm *memo) request(m Records, at int) (string, error) {
	if at == 0 {
		return "", nil
	}
	if text, ok := mm.requests[at]; ok {
		return text, nil
	}
	raw, err := m.Record(at)
	if err != nil {
		return "", unreadable(addressOf(m, at), err)
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
func (mm *memo) fold(m Records, rules foldRules) *fold {
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
		return err == nil && w != derived.Request
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

// forget forgets the renderings that the last build did not use.
func (mm *memo) forget() {
	for key, r := range mm.records {
		if !r.used {
			delete(mm.records, key)
			continue
		}
		r.used = false
		mm.records[key] = r
	}
	for key, r := range mm.blocks {
		if !r.used {
			delete(mm.blocks, key)
			continue
		}
		r.used = false
		mm.blocks[key] = r
	}
	for key, v := range mm.inventories {
		if !v.used {
			delete(mm.inventories, key)
		}
		v.used = false
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

// follow forgets what does not hold for in any more. A history grows at its
// end; only where the end of a log was lost with the power, an event can come
// to stand in front of messages that were there before it.
func (mm *memo) follow(in *Input) {
	if len(in.Tools) > mm.tools && int(in.Tools[mm.tools].After) < mm.messages {
		clear(mm.folds)
		clear(mm.zoned)
		clear(mm.repeated)
		clear(mm.records)
		clear(mm.requests)
		clear(mm.costs)
		clear(mm.asks)
		clear(mm.tried)
		mm.recalled, mm.quoted, mm.items = nil, quote{}, nil
	}
	mm.messages, mm.tools = in.Messages.Len(), len(in.Tools)
}

// use says for which limits the next build folds.
func (mm *memo) use(l limits) {
	if mm.limits.limit != l.limit || mm.limits.room != l.room {
		mm.limits = l
		clear(mm.folds)
		clear(mm.zoned)
		clear(mm.repeated)
	}
}

// size is about how many bytes of memory mm holds.
func (mm *memo) size() int {
	n := 0
	for _, r := range mm.records {
		n += len(r.text) + 128 + 192*len(r.contents)
		for _, text := range r.instead {
			n += len(text) + 16
		}
	}
	for _, r := range mm.blocks {
		n += len(r.raw) + len(r.text) + 256
	}
	for _, v := range mm.inventories {
		n += v.size()
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
	if mm.recalled != nil {
		n += mm.recalled.size()
	}
	if mm.stands != nil {
		n += mm.stands.size()
	}
	return n
}
