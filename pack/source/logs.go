package source

import (
	"context"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// Logs are both logs of a session as packs show them: a placeholder replaces each damaged record,
// and secrets are redacted.
type Logs struct {
	Unread    record.Unread // records that are damaged
	summaries *sync.Map     // texts of delivered versions, by SHA-256 in hex
	mask      *mask         // redaction of secrets; nil if there is none
}

// NewLogs returns the logs of session id, without the secrets that r knows; a nil r: as they are.
func NewLogs(r *redact.Redactor, id string) Logs {
	return Logs{mask: newMask(r, id), summaries: &sync.Map{}}
}

// Redacts reports whether packs show the session without its secrets.
func (l *Logs) Redacts() bool { return l.mask != nil }

// Redact leaves no secret in what a pack is made from beside its records, and notes what was found.
// It returns an error when the history cannot be read.
func (l *Logs) Redact(in *pack.Input, t *log.Timeline) error {
	return l.mask.input(in, t, &l.Unread)
}

// Stored returns a log of the session as it is stored.
func (l *Logs) Stored(ix *log.Index, event bool) record.Records {
	return ReadableOf(&l.Unread, ix, event)
}

// historyOf is both logs as they are stored.
func historyOf(t *log.Timeline, u *record.Unread) redact.History {
	return redact.History{Messages: ReadableOf(u, t.Messages, false), Events: ReadableOf(u, t.Events, true), Before: t.Before}
}

// Readable returns a log of the session as packs show it.
func (l *Logs) Readable(t *log.Timeline, event bool) record.Records {
	return l.readableUntil(t, event, nil)
}

func (l *Logs) readableUntil(t *log.Timeline, event bool, until *waiter) record.Records {
	ix := t.Messages
	if event {
		ix = t.Events
	}
	raw := &readable{Index: ix, event: event, unread: &l.Unread, until: until}
	if l.mask != nil {
		raw.mask, raw.history = l.mask, historyOf(t, &l.Unread)
	}
	return raw
}

// Timeline is that of the session. Where secrets are not to be shown it fails without the events:
// they tell of secrets that messages repeat. It ends with the error of ctx when that ends.
func (l *Logs) Timeline(ctx context.Context, x *session.Session) (*log.Timeline, error) {
	t, err := x.TimelineWithin(ctx)
	if err == nil && l.mask != nil {
		err = t.EventsErr
	}
	return t, err
}

// Masked reports whether the record at an address is shown otherwise than it is stored.
func (l *Logs) Masked(t *log.Timeline, at record.Address) bool {
	return l.mask != nil && l.mask.changes(historyOf(t, &l.Unread), at)
}

// placesOf returns the last records of messages and of events that packs know.
func placesOf(t *log.Timeline) [2]int {
	upTo := [2]int{t.Messages.Len(), 0}
	if n := len(t.Tools); n > 0 {
		upTo[1] = int(t.Tools[n-1].Line)
	}
	return upTo
}

const settlePause = 200 * time.Microsecond

// Snapshot sets both logs of in to their state at one moment. Until the caller calls done, reads of
// their records end with ctx. An event whose order is not yet certain goes into a later pack.
// Snapshot returns an error if it cannot read a log or ctx ends.
func (l *Logs) Snapshot(ctx context.Context, x *session.Session, in *pack.Input) (t *log.Timeline, done func(), err error) {
	begin, asked := time.Now(), int64(-1)
	for {
		if t, err = l.Timeline(ctx, x); err != nil {
			return nil, nil, err
		}
		if asked < 0 {
			asked = t.Events.Size() // what comes later may stand in a later pack
		}
		if t.Settled >= asked || time.Since(begin) > mostSettling {
			break
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(settlePause):
		}
	}
	until := &waiter{}
	until.ctx.Store(&ctx)
	err = l.fill(in, x, t, until)
	return t, func() { until.ctx.Store(nil) }, err
}

// fill copies the history and the summaries of t into in. It returns an error if a log cannot be
// read.
func (l *Logs) fill(in *pack.Input, x *session.Session, t *log.Timeline, until *waiter) (err error) {
	in.Messages, in.NoEvents, in.Opening = l.readableUntil(t, false, until), t.EventsErr != nil, ""
	in.Tools, in.Events, in.EventsHead = nil, nil, ""
	if t.Messages.Len() > 0 {
		in.Opening = x.Opening()
	}
	if in.Head, err = x.Messages().HeadAt(t.Messages.Size()); err != nil {
		return err
	}
	if n := len(t.Tools); n > 0 {
		last := t.Events.At(int(t.Tools[n-1].Line))
		in.Tools, in.Events = t.Tools, l.readableUntil(t, true, until)
		if in.EventsHead, err = x.Events().HeadAt(last.Offset + int64(last.Len) + 1); err != nil {
			return err
		}
	}
	l.deliver(in, x, t)
	return nil
}

// Until replaces the history of in by that of t. It returns an error when a log cannot be read.
func (l *Logs) Until(in *pack.Input, x *session.Session, t *log.Timeline) error {
	in.EpochReason, in.SummaryNote, in.Redaction = "", "", l.mask.until(in.Redaction, t)
	if err := l.fill(in, x, t, nil); err != nil {
		return err
	}
	l.mask.summaries(in)
	return summaryUntil(in, x, t)
}

// A tool event has its place when no message is on its way any more that may
// stand in front of it. One takes microseconds, and on a busy machine as long as
// its writer is not let go on; more than mostSettling is the disk's.
const (
	mostSettling = 5 * time.Second
)
