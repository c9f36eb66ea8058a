package enginetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// NewSession returns the name of a journal that nobody has used.
func NewSession(owner string) engine.Subject {
	var id [16]byte
	rand.Read(id[:])
	return engine.Subject{Owner: owner, Session: hex.EncodeToString(id[:])}
}

// newID returns an id that nobody has used.
func newID() string { return rand.Text() }

// deadline returns a context for one test of an engine, which ends it if it hangs.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// body returns a payload of some bytes that differ from all others.
func body(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// Append appends an entry. It tries again while the engine reports that another append is under way,
// which servers may do for a moment after they acknowledged the one before. It returns any other error
// of the engine.
func Append(ctx context.Context, e engine.Engine, s engine.Subject, expected uint64, id string, h engine.Header, payload []byte) (uint64, error) {
	for {
		seq, err := e.Append(ctx, s, expected, id, h, payload)
		if !errors.Is(err, engine.ErrBusy) {
			return seq, err
		}
	}
}

// fill appends n entries with small payloads to a subject that is empty and returns them.
func fill(t testing.TB, ctx context.Context, e engine.Engine, s engine.Subject, n int) (list []engine.Entry) {
	t.Helper()
	last := uint64(0)
	for i := range n {
		x := engine.Entry{ID: newID(), Header: engine.Header{"Ctx-I": fmt.Sprint(i)}, Payload: fmt.Appendf(nil, "entry %d", i)}
		seq, err := Append(ctx, e, s, last, x.ID, x.Header, x.Payload)
		if err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		if seq <= last {
			t.Fatalf("entry %d has the sequence %d behind %d", i, seq, last)
		}
		x.Seq, last = seq, seq
		list = append(list, x)
	}
	return list
}

// ReadAll returns the entries of a subject from a sequence on, up to the end that the leader knows. It
// returns the error of the engine, or ErrUnknown if ctx ends before the replicas have caught up.
func ReadAll(ctx context.Context, e engine.Engine, s engine.Subject, from uint64) (list []engine.Entry, err error) {
	end, err := e.Last(ctx, s, true)
	if err != nil {
		return nil, err
	}
	for stale := 0; end.Seq > 0 && from <= end.Seq; {
		more, err := e.Read(ctx, s, engine.Range{From: from, Leader: stale > 2})
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			if stale++; ctx.Err() != nil {
				return nil, fmt.Errorf("%w: %s ends at %d, and nothing is read from %d on", engine.ErrUnknown, s, end.Seq, from)
			}
			continue
		}
		stale = 0
		list = append(list, more...)
		from = more[len(more)-1].Seq + 1
	}
	return list, nil
}

// wantConflict fails the test if err is no conflict with the given end.
func wantConflict(t testing.TB, err error, last uint64) {
	t.Helper()
	c, ok := errors.AsType[*engine.Conflict](err)
	if !ok || c.Last != last {
		t.Errorf("got %v, want a conflict with the end %d", err, last)
	}
}

// wantError fails the test if err is not the wanted one.
func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got the error %v, want %v", err, want)
	}
}

// wantEntries fails the test if two lists differ.
func wantEntries(t testing.TB, got, want []engine.Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Seq != want[i].Seq || !got[i].Same(want[i]) {
			t.Fatalf("entry %d: got %d %q %v with %d bytes, want %d %q %v with %d bytes", i,
				got[i].Seq, got[i].ID, got[i].Header, len(got[i].Payload), want[i].Seq, want[i].ID, want[i].Header, len(want[i].Payload))
		}
	}
}

// newDigits returns eight digits that nobody has used.
func newDigits() string {
	d := body(8)
	for i := range d {
		d[i] = '0' + d[i]%10
	}
	return string(d)
}

// ReadAllOf returns the entries of a subject from a sequence up to another, which is known to be there.
// It returns the error of the engine, or that of ctx if it ends before the replicas have caught up.
func ReadAllOf(ctx context.Context, e engine.Engine, s engine.Subject, from, to uint64) (list []engine.Entry, err error) {
	for from <= to {
		more, err := e.Read(ctx, s, engine.Range{From: from})
		if err == nil && len(more) == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
		if len(more) > 0 {
			from = more[len(more)-1].Seq + 1
		}
	}
	return list, nil
}
