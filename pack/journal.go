package pack

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tokens"
)

// part is a piece of the journal as it stands in the pack.
type part struct {
	piece
	text   string
	tokens int
	how    string // a record that is shortened: by what
	notes  string // of a block of notes: which

	role     ctxabi.Role // of a record
	contents []portion   // of a record, without their texts
	instead  []string    // see rendered

	summarized int // of a summary: the last place that the summarizer's text tells of; 0: all of it is derived
}

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

// shownAs names one rendering of the record at one place.
type shownAs struct {
	at, body int
	repeats  string // the records that it refers to; "": none
}

type rendered struct {
	text   string
	tokens int
	how    string // it is shortened: by what
	used   bool   // by the build going on

	role     ctxabi.Role // of the record
	contents []portion   // without their texts
	body     int         // that it was rendered with
	// instead are the texts that stand in the place of the record's results, in their order; "": the result itself. It is nil where
	// no result is a reference, and where the rest of the record is shortened, too.
	instead []string
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

// made gives the block that key names, by making it where it is not known.
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

// pictures is what the images of the record at a place cost.
func (mm *memo) pictures(m Records, at int) (int, error) {
	if n, ok := mm.costs[at]; ok {
		return int(n), nil
	}
	a := addressOf(m, at)
	if a.event {
		return 0, nil // they are shown as lines
	}
	raw, err := m.Record(at)
	if err != nil {
		return 0, unreadable(a, err)
	}
	_, parts := ctxabi.DecodeParts(raw)
	n := tokensOfImages(parts)
	mm.costs[at] = int32(n)
	return n, nil
}

// render renders and counts the record at a place of m, with references where refs says so.
func (mm *memo) render(m Records, at, body int, refs references, c *tokens.Counter) (rendered, error) {
	key := shownAs{at, body, refs.String()}
	r, ok := mm.records[key]
	if !ok {
		before := unreadSoFar(m)
		s, err := readAt(m, at, body)
		if err != nil {
			return r, err
		}
		r.body = body
		if len(refs) == 0 {
			r.text, r.how = s.write(body)
		} else {
			r.text, r.how, r.instead = s.refer(refs, body)
		}
		if r.role, r.contents, err = outlineAt(m, at, r); err != nil {
			return r, err
		}
		whole := r.how == "" && unreadSoFar(m) == before // else what is kept of its count is not that of r
		if whole && mm.known != nil {
			r.tokens = mm.known(addressOf(m, at))
		}
		if r.tokens == 0 {
			r.tokens = c.CountCached(r.text)
			if whole && mm.counted != nil {
				mm.counted(addressOf(m, at), r.tokens)
			}
		}
	}
	if !r.used {
		r.used = true
		mm.records[key] = r
	}
	return r, nil
}

// show renders the record of a piece as far as its share goes.
func (mm *memo) show(m Records, p piece, c *tokens.Counter) (rendered, error) {
	// No text weighs sixteen times its tokens but for rows of one character, and those can be cut.
	if p.exact > 0 && int(m.At(p.From).Weight)/16 < p.exact {
		if r, err := mm.render(m, p.From, 0, nil, c); err != nil || r.tokens <= p.exact {
			return r, err
		}
	}
	return mm.render(m, p.From, p.body, nil, c)
}

// count sums up the tokens of pieces of the journal.
func (mm *memo) count(m Records, pieces []piece, c *tokens.Counter) (n int64, err error) {
	for _, p := range pieces {
		if p.omitted {
			n += int64(c.CountCached(leftOut(p, stretchOf(m, p.Span))))
			continue
		}
		r, err := mm.show(m, p, c)
		if err != nil {
			return 0, err
		}
		n += int64(r.tokens)
	}
	return n, nil
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

const conversation = blockHeading + "conversation\n"

// renderJournal renders the pieces of f: the leading records below their heading, the zones, and all others below the conversation's.
func (mm *memo) renderJournal(m Records, f *fold, c *tokens.Counter) (parts []part, total int, err error) {
	if f.n == 0 {
		return nil, 0, nil
	}
	z, err := mm.zones(m, f, c)
	if err != nil {
		return nil, 0, err
	}
	pieces := f.pieces(m, z.from)
	parts = make([]part, 0, len(pieces)+8)
	if f.lead.n > 0 {
		parts = append(parts, part{piece: piece{lead: true}, text: leading, tokens: c.CountCached(leading)})
	}
	repeats := mm.repeats(f)
	begin := func() {
		parts = append(parts, z.blocks...)
		parts = append(parts, part{piece: piece{kept: true}, text: conversation, tokens: c.CountCached(conversation)})
	}
	for i, p := range pieces {
		if i == f.lead.n {
			begin()
		}
		q := part{piece: p}
		if p.zone == inFolds {
			q = z.folds[p.From-z.from]
		} else if p.omitted {
			q.text = leftOut(p, stretchOf(m, p.Span))
			q.tokens = c.CountCached(q.text)
		} else {
			r, err := mm.show(m, p, c)
			if err == nil && repeats != nil && !p.kept && !p.lead {
				r, err = repeats.show(m, p.From, r, c)
			}
			if err != nil {
				return nil, 0, err
			}
			q.text, q.tokens, q.how, q.role, q.contents, q.instead = r.text, r.tokens, r.how, r.role, r.contents, r.instead
		}
		parts = append(parts, q)
	}
	if len(pieces) == f.lead.n {
		begin()
	}
	for _, q := range parts {
		total += q.tokens
	}
	return parts, total, nil
}

// leftOut is the line that stands in place of a range of records.
func leftOut(p piece, s stretch) string {
	if s.count == 1 {
		return fmt.Sprintf("## %s left out: about %d tokens, %s/%s\n", s, p.weight, ctxabi.LineDir, s)
	}
	return fmt.Sprintf("## %s left out: %d records, about %d tokens, %s/<number>\n", s, s.count, p.weight, ctxabi.LineDir)
}
