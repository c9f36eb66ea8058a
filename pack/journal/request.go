package journal

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/record"
)

// minUncovered is the least weight of uncovered records at which a request opens, in thousandths of
// the summary limit.
const minUncovered = 1500

// mostUnasked is the weight of uncovered records at which a request opens in any case, in
// thousandths of the journal's tokens. This is about the capacity of one request.
const mostUnasked = 800

// Request is a request for a summary. It opens before a compaction, while the prompt still shows
// most of the covered records. A version that covers Upto closes it, and so does a compaction that
// moves the boundary first.
type Request struct {
	N      int // its number, from 1; 0: no request was opened yet
	Opened int // place of the record that opened it
	Upto   int // place of the last record that the summary covers
	Open   bool
}

// requests is the state from which a fold opens and closes requests.
type requests struct {
	newest   Request
	covered  int   // place up to which the version in use covers the history
	weighs   int64 // weight of the records up to there
	calls    int   // first record of the open tool loop; 0: no loop is open
	before   int64 // weight of the records before that loop
	answered bool  // a result of that loop came
}

// Requested returns the newest request of f after its last record and the deliveries up to now.
func (mm *Memo) Requested(f *Fold) Request {
	r := f.asked.newest
	if r.Open && mm.deliveredAt(f.N+1).to >= r.Upto {
		r.Open = false
	}
	return r
}

// Finished returns the place of the last record that does not belong to an unfinished tool loop.
func (f *Fold) Finished() int {
	if f.asked.calls > 0 {
		return f.asked.calls - 1
	}
	return f.N
}

// noteLoop updates the open tool loop with record e. A loop begins with calls and ends with the
// next message of the assistant that has none.
func (f *Fold) noteLoop(e ctxabi.Entry) {
	a := &f.asked
	switch {
	case record.IsResult(e):
		a.answered = true
	case e.Flags&ctxabi.HasCalls != 0:
		if a.calls == 0 || a.answered {
			a.calls, a.before, a.answered = f.N, f.Total.Weight-int64(e.Weight), false
		}
	case e.Role == ctxabi.Assistant:
		a.calls, a.answered = 0, false
	}
}

// noteCovered updates the range that the version in use covers before the record that f adds.
func (f *Fold) noteCovered() {
	if f.summary == nil {
		return
	}
	if to := f.summary(f.N).to; to != f.asked.covered {
		f.asked.covered, f.asked.weighs = to, f.weightUpTo(to)
	}
}

// ask closes the open request and opens the next one, if it is time. before is the boundary before
// the last record.
func (f *Fold) ask(before int) {
	r := &f.asked.newest
	if r.Open && (f.asked.covered >= r.Upto || f.Boundary() > before) {
		r.Open = false
		return
	}
	if r.Open || !f.asks() {
		return
	}
	if upto := f.Finished(); upto > f.asked.covered {
		*r = Request{N: r.N + 1, Opened: f.N, Upto: upto, Open: true}
	}
}

// asks reports whether a request opens: enough records before an open tool loop are not covered,
// and the live records are pressed or the uncovered ones would nearly fill a prompt.
func (f *Fold) asks() bool {
	finished := f.Total.Weight
	if f.asked.calls > 0 {
		finished = f.asked.before
	}
	limit, uncovered := int64(f.Rules.SummaryLimit()), finished-f.asked.weighs
	return limit > 0 && f.Rules.zones.all() > 0 && uncovered >= limit*minUncovered/1000 &&
		(f.isPressed() || uncovered*1000 >= f.Rules.room*mostUnasked)
}

func (a *requests) code(c *coder.Coder) {
	r := &a.newest
	coder.Number(c, &r.N, &r.Opened, &r.Upto, &a.covered, &a.calls)
	coder.Number(c, &a.weighs, &a.before)
	c.Flag(&r.Open, &a.answered)
}
