package journal

import (
	"context"
	"crypto/sha256"
	"slices"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// Memo holds what one journal may reuse of those before it.
type Memo struct {
	space     Space // that the folds were made for
	folds     map[Rules]*folded
	zoned     map[zonesOf]*Zones
	repeated  map[repeatsOf]*repeats
	Counter   *tokens.Counter // of the build going on
	Summaries []Summary       // versions for the build going on, set by Deliver
	checked   map[[sha256.Size]byte]checkResult
	records   map[shownAs]rendered
	requests  map[int]string   // requests of the user, by position
	costs     map[int]int32    // of images, by place
	argued    map[[2]int]int32 // results of argumentsOf, by place and body
	digests   digests          // of the newest records
	outdated  outdated         // newest result of Outdated
	states    section.States
	paths     map[int]filesUsed // of files that calls read and write, by place
	made      int               // zones, so far
	saved     saved             // of the folds and zones that outlive this memory
	Decided   []Decided         // decisions that the build going on shows
	Marks     ctxabi.Marks      // around compacted content of the session
	Context   context.Context   // of whoever waits for it; records are read no longer when that is over

	Known   func(at record.Address) int         // a persisted count of a record in full, or 0
	Counted func(at record.Address, tokens int) // told of each new one
}

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	return &Memo{Context: context.Background(), folds: map[Rules]*folded{}, zoned: map[zonesOf]*Zones{},
		repeated: map[repeatsOf]*repeats{}, records: map[shownAs]rendered{}, requests: map[int]string{},
		costs: map[int]int32{}, argued: map[[2]int]int32{}, paths: map[int]filesUsed{},
		checked: map[[sha256.Size]byte]checkResult{}}
}

// folded are the folds of all records and of all but the last. Neither changes any more.
type folded struct {
	before, now *Fold
	entered     []entered // versions of the summary that compactions of now could use
}

// Fold folds m by rules, from where an earlier build left off.
func (mm *Memo) Fold(m record.Records, rules Rules) *Fold {
	mm.restore(m)
	n, f := m.Len(), mm.folds[rules]
	if f != nil && !slices.Equal(f.entered, mm.entered(f.now.N)) {
		f = nil
	}
	switch {
	case f != nil && f.now.N == n:
		return f.now
	case f != nil && f.before.N == n:
		return f.before
	case f == nil || f.now.N > n:
		f = &folded{now: &Fold{Rules: rules}}
	}
	now := f.now.clone()
	before := f.now
	unread := false
	if c := mm.Counter; c != nil && rules.scale == firstScale {
		now.exactly = func() (int64, bool) {
			n, err := mm.count(m, now.pieces(m), c)
			unread = unread || err != nil
			return n, err == nil
		}
	}
	now.images = func(line int) int {
		n, err := mm.pictures(m, line)
		unread = unread || err != nil
		return n
	}
	now.arguments = func(line, body int) int {
		n, err := mm.argumentsOf(m, line, body)
		unread = unread || err != nil
		return n
	}
	if len(mm.Summaries) > 0 {
		now.summary = mm.deliveredAt
		now.weightUpTo = func(to int) (weight int64) {
			for at := range min(to, m.Len()) {
				weight += int64(m.At(at + 1).Weight)
			}
			return weight
		}
	}
	now.idle = func(line int) bool {
		w, _, err := mm.sense(m, line)
		unread = unread || err != nil
		return err == nil && w != derived.Request
	}
	for now.N < n {
		if now.N == n-1 && before.N < n-1 {
			before = now.clone()
		}
		now.add(m.At(now.N + 1))
	}
	if n == 0 {
		before = now
	}
	now.exactly, now.idle, now.images, now.arguments, now.summary, now.weightUpTo = nil, nil, nil, nil, nil, nil
	if unread { // a record that could not be read may be there next time
		delete(mm.folds, rules)
	} else {
		mm.folds[rules] = &folded{before, now, mm.entered(now.N)}
	}
	return now
}

// argumentsOf returns the weight of the call arguments in the record at a place if body is 0.
// Otherwise it returns an upper bound of the record's weight with its arguments shortened to body
// tokens, or 0 if more than arguments must be shortened. It returns ctxabi.ErrIO if the record
// cannot be read.
func (mm *Memo) argumentsOf(m record.Records, at, body int) (int, error) {
	key := [2]int{at, body}
	if n, ok := mm.argued[key]; ok {
		return int(n), nil
	}

	n := 0
	if body > 0 {
		s, err := record.Read(m, at, body)
		if err != nil {
			return 0, err
		}
		if text, _, arguments := s.WriteCalls(body); arguments != nil {
			n = ctxabi.Weight(text) * shortenedMargin / 100
		}
	} else {
		r, err := record.WordsOf(m, at)
		if err != nil {
			return 0, err
		}
		for _, c := range r.Calls {
			n += ctxabi.Weight(c.Arguments)
		}
	}
	mm.argued[key] = int32(n)
	return n, nil
}

// shortenedMargin is the percentage of its weight that a record with shortened arguments counts
// for. Rendering shortens by exact token counts, so it may keep more than the weight suggests.
const shortenedMargin = 125

// Forget forgets what the last build did not use.
func (mm *Memo) Forget() {
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

// Clear forgets what hangs on the places of records.
func (mm *Memo) Clear() {
	clear(mm.folds)
	clear(mm.zoned)
	clear(mm.repeated)
	clear(mm.records)
	clear(mm.requests)
	clear(mm.costs)
	clear(mm.argued)
	clear(mm.paths)
	clear(mm.checked)
	mm.digests, mm.outdated = digests{}, outdated{}
	mm.states.Clear()
}

// Use returns for which space the next build folds.
func (mm *Memo) Use(l Space) {
	if mm.space != l {
		mm.space = l
		clear(mm.folds)
		clear(mm.zoned)
		clear(mm.repeated)
	}
}

// Size is about how many bytes of memory mm holds.
func (mm *Memo) Size() int {
	n := 0
	for _, r := range mm.records {
		n += len(r.text) + 128 + 192*len(r.contents)
		for _, text := range r.instead {
			n += len(text) + 16
		}
	}
	for _, used := range mm.paths {
		n += 64
		for _, path := range used.paths {
			n += 16 + len(path)
		}
	}
	n += 24*len(mm.costs) + 32*len(mm.argued) + mm.digests.bytes() + mm.states.Size()
	for _, text := range mm.requests {
		n += len(text)
	}
	for _, f := range mm.folds {
		n += (cap(f.before.starts)+cap(f.now.starts))*128 + cap(f.now.Cuts)*16 + 1024
	}
	for _, z := range mm.zoned {
		n += z.size()
	}
	for _, r := range mm.repeated {
		n += r.size()
	}
	return n
}
