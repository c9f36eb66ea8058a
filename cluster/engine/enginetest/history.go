package enginetest

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// History is what was done to one journal: which records were sent, between which moments, and what the
// answers were. Its methods may be called at the same time.
type History struct {
	mu    sync.Mutex // guards all below
	clock int        // counts moments
	ops   map[string]*operation
}

// operation is one record's way into a journal.
type operation struct {
	began, ended int // moments
	stored       bool
	refused      bool
}

// Do puts a record with a new key into a journal, notes what came of it, and returns the error of the
// writer.
func (h *History) Do(ctx context.Context, w *Writer, key string) error {
	h.begin(key)
	err := w.Append(ctx, key)
	h.end(key, err)
	return err
}

// begin notes that a record is sent.
func (h *History) begin(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ops == nil {
		h.ops = map[string]*operation{}
	}
	h.clock++
	if h.ops[key] != nil {
		panic("enginetest: the key " + key + " is used twice")
	}
	h.ops[key] = &operation{began: h.clock, ended: math.MaxInt}
}

// end notes the answer.
func (h *History) end(key string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	o := h.ops[key]
	switch {
	case err == nil:
		o.stored, o.ended = true, h.clock
	case engine.Settled(err):
		o.refused = true
	}
}

// Counts returns how many records were acknowledged, refused, and neither.
func (h *History) Counts() (stored, refused, unknown int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.ops {
		switch {
		case o.stored:
			stored++
		case o.refused:
			refused++
		default:
			unknown++
		}
	}
	return stored, refused, unknown
}

// Check returns one sentence for each rule that a journal with records of these keys, in this order,
// breaks: acknowledged records are in it, refused ones are not, none is in it twice, each was sent by a
// writer, and a record acknowledged before another was sent precedes it.
func (h *History) Check(keys []string) (wrong []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	at := map[string]int{}
	for i, key := range keys {
		o := h.ops[key]
		switch first, twice := at[key]; {
		case o == nil:
			bad("record %q at %d was never sent", key, i)
		case twice:
			bad("record %q stands at %d and at %d", key, first, i)
		case o.refused:
			bad("record %q at %d was refused", key, i)
		}
		at[key] = i
	}
	for key, o := range h.ops {
		if _, ok := at[key]; o.stored && !ok {
			bad("record %q was acknowledged and is lost", key)
		}
	}
	earliest, of := math.MaxInt, "" // the first end among the records further down
	for i := len(keys) - 1; i >= 0; i-- {
		o := h.ops[keys[i]]
		if o == nil {
			continue
		}
		if earliest < o.began {
			bad("record %q was acknowledged before %q was sent, and stands behind it", of, keys[i])
		}
		if o.ended < earliest {
			earliest, of = o.ended, keys[i]
		}
	}
	return wrong
}
