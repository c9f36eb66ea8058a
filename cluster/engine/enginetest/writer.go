package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Writer puts records into one journal, each exactly once, through an engine that loses answers. It is
// what a journal is at least: a chain over what it has read, keys to find its own records again, and a
// fence when an outcome is unknown. One goroutine uses it.
type Writer struct {
	e    engine.Engine
	s    engine.Subject
	name string

	n     int            // ids used
	last  uint64         // sequence of the last entry that was read
	i     int            // number of the next entry
	chain [32]byte       // of the entries that were read
	seen  map[string]int // keys of the records that were read, and their numbers
	doubt bool           // an entry of this writer may come to stand behind last
}

var (
	// ErrChain is the error of a writer whose journal is not the one that it has read.
	ErrChain = errors.New("the journal does not continue what was read")
	// ErrOlder is the error of a writer whose journal ends before what it has read: entries are lost, or
	// the answer comes from a leader that is cut off and does not know.
	ErrOlder = errors.New("the journal ends before what was read")
)

// NewWriter returns a writer of a journal that has read nothing. No two writers have the same name.
func NewWriter(e engine.Engine, s engine.Subject, name string) *Writer {
	return &Writer{e: e, s: s, name: name, seen: map[string]int{}}
}

// Append puts a record with a key that is used once into the journal. It returns nil once it stands
// there, ErrUnknown or another error of the engine if it may stand there (Append may be called again
// with the same key), an error for which engine.Settled is true if it does not, and ErrChain if the
// journal has lost or changed what was read.
func (w *Writer) Append(ctx context.Context, key string) error {
	sent, older := false, 0
	for {
		if w.doubt || sent {
			if err := w.CatchUp(ctx); err != nil {
				return unsure(err)
			}
			if _, ok := w.seen[key]; ok {
				return nil
			}
		}
		if w.doubt {
			if err := w.put(ctx, "F", ""); err != nil {
				if !w.retry(err, &older) {
					return unsure(err)
				}
				continue
			}
		}
		sent = true
		err := w.put(ctx, "R", key)
		if err == nil {
			return nil
		}
		if !w.retry(err, &older) {
			return err
		}
	}
}

// unsure returns err as one after which the record may stand in the journal.
func unsure(err error) error { return fmt.Errorf("%w (%v)", engine.ErrUnknown, err) }

// retry reports whether to look at the journal again after an error.
func (w *Writer) retry(err error, older *int) bool {
	c, ok := errors.AsType[*engine.Conflict](err)
	if ok && c.Last < w.last {
		*older++ // an old leader, or a loss: CatchUp finds out
		return *older < 1000
	}
	return ok || errors.Is(err, engine.ErrBusy)
}

// put appends an entry behind the last one, and remembers when it does not know whether it did.
func (w *Writer) put(ctx context.Context, kind, key string) error {
	w.n++
	payload := []byte(kind + " " + key)
	chain := next(w.chain, payload, w.i)
	header := engine.Header{"Ctx-I": strconv.Itoa(w.i), "Ctx-Chain": hex.EncodeToString(chain[:])}
	seq, err := w.e.Append(ctx, w.s, w.last, fmt.Sprint(w.name, "-", w.n), header, payload)
	if err != nil {
		w.doubt = w.doubt || !engine.Settled(err)
		return err
	}
	w.doubt = false
	return w.apply(engine.Entry{Seq: seq, ID: w.name, Header: header, Payload: payload})
}

// next returns the chain behind an entry.
func next(chain [32]byte, payload []byte, i int) [32]byte {
	sum := sha256.Sum256(payload)
	return sha256.Sum256(fmt.Append(slices.Concat(chain[:], sum[:]), i))
}

// apply takes the next entry, or returns ErrChain if it is another one.
func (w *Writer) apply(e engine.Entry) error {
	chain := next(w.chain, e.Payload, w.i)
	if e.Header["Ctx-I"] != strconv.Itoa(w.i) || e.Header["Ctx-Chain"] != hex.EncodeToString(chain[:]) {
		return fmt.Errorf("%w: entry %s at %d, want %d", ErrChain, e.Header["Ctx-I"], e.Seq, w.i)
	}
	if len(e.Payload) > 2 {
		w.seen[string(e.Payload[2:])] = w.i
	}
	w.last, w.i, w.chain = e.Seq, w.i+1, chain
	return nil
}

// CatchUp reads what the journal has, to its end. It returns ErrChain if that does not continue what was
// read, ErrOlder if it ends before, or an error of the engine.
func (w *Writer) CatchUp(ctx context.Context) error {
	end, err := w.e.Last(ctx, w.s, true)
	for n := 0; n < 100 && err == nil && end.Seq < w.last; n++ { // a replica may have it a moment before its leader
		end, err = w.e.Last(ctx, w.s, true)
	}
	if err != nil {
		return err
	}
	if end.Seq < w.last {
		return fmt.Errorf("%w: at %d, and %d was read", ErrOlder, end.Seq, w.last)
	}
	list, err := ReadAll(ctx, w.e, w.s, w.last+1)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.ID == "" { // no entry, but what comes next stands behind it
			w.last = e.Seq
			continue
		}
		if err := w.apply(e); err != nil {
			return err
		}
		w.doubt = false // whatever stands behind the expected one, it stands there alone
	}
	return nil
}

// Keys returns the keys of the records that were read, in their order.
func (w *Writer) Keys() []string {
	list := make([]string, 0, len(w.seen))
	for key := range w.seen {
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b string) int { return w.seen[a] - w.seen[b] })
	return list
}

// Journal reads a journal from its first entry on, checks its chain, and returns the keys of its
// records in their order, a key twice if it stands there twice. It returns ErrChain or an error of the
// engine.
func Journal(ctx context.Context, e engine.Engine, s engine.Subject) (keys []string, err error) {
	list, err := ReadAll(ctx, e, s, 0)
	if err != nil {
		return nil, err
	}
	w := NewWriter(e, s, "reader")
	for _, x := range list {
		if x.ID == "" {
			continue
		}
		if err := w.apply(x); err != nil {
			return nil, err
		}
		if len(x.Payload) > 2 {
			keys = append(keys, string(x.Payload[2:]))
		}
	}
	return keys, nil
}

// Offer takes an entry of a feed, and reports whether the journal has to be read because it is not the
// next one.
func (w *Writer) Offer(e engine.Entry) (gap bool) {
	if e.Seq <= w.last {
		return false
	}
	return e.Prev != w.last || e.ID == "" || w.apply(e) != nil
}
