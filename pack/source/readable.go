package source

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

// ReadableOf returns a snapshot of a log of which records may be damaged.
func ReadableOf(u *record.Unread, ix *log.Index, event bool) record.Records {
	return &readable{Index: ix, event: event, unread: u}
}

// readable is a log in which a stand-in takes the place of each record that cannot be read.
type readable struct {
	*log.Index
	event  bool
	unread *record.Unread
	until  *waiter // nil: nothing ends the reading

	mask    *mask // nil: records are shown as they are stored
	history redact.History
}

// waiter holds the context of the request that created a snapshot. It is nil after the answer to
// the request, because other requests continue to use the snapshot.
type waiter struct {
	ctx atomic.Pointer[context.Context]
}

// err returns the error of the context.
func (w *waiter) err() error {
	if w == nil {
		return nil
	}
	if ctx := w.ctx.Load(); ctx != nil {
		return (*ctx).Err()
	}
	return nil
}

// At returns what the index says of a record.
func (r *readable) At(line int) ctxabi.Entry {
	e := r.Index.At(line)
	if r.mask == nil {
		return e
	}
	return r.mask.entryOf(r, record.Address{Line: line, Event: r.event}, e)
}

// Unread returns the records of the session that were found unreadable.
func (r *readable) Unread() *record.Unread { return r.unread }

// Record returns a record, or what stands in for one that is damaged.
// It returns the errors of the log but for damage, and that of the context of the snapshot.
func (r *readable) Record(line int) ([]byte, error) {
	if err := r.until.err(); err != nil {
		return nil, err
	}
	raw, err := r.Index.Record(line)
	a := record.Address{Line: line, Event: r.event}
	if err != nil {
		if !archive.IsDamage(err) {
			return nil, err
		}
		r.unread.Note(a, true)
		return standIn(a, r.Index.At(line)), nil
	}
	r.unread.Note(a, false)
	if r.mask != nil {
		return r.mask.record(r.history, a, raw)
	}
	return raw, nil
}

// standIn is a record of the form of the one at a, which cannot be read.
func standIn(a record.Address, e ctxabi.Entry) []byte {
	text := fmt.Sprintf("[record %s cannot be read: what is stored of it is damaged]", a)
	fields := map[string]string{"role": e.Role.String(), "content": text}
	switch {
	case e.Role == ctxabi.RoleUnknown:
		return []byte(text)
	case e.Role == ctxabi.Event:
		fields = map[string]string{"type": record.ResultType, "output": text}
		if e.Flags&ctxabi.HasCalls != 0 {
			fields = map[string]string{"type": record.CallType, "arguments": text}
		}
	}
	raw, _ := json.Marshal(fields) // strings alone
	return raw
}
