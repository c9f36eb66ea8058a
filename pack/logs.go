package pack

import (
	"context"
	"time"

	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/redact"
	"github.com/ctxfs/ctxfs/session"
)

// logs are both logs of a session as packs show them: what is damaged has a stand-in, and no secret stands in them.
type logs struct {
	unread record.Unread // records that are damaged
	veil   *veil         // what packs must not show; nil: they show all
}

// redacts says whether packs show the session without its secrets.
func (l *logs) redacts() bool { return l.veil != nil }

// redact leaves no secret in what a pack is made from beside its records, and notes what was found.
func (l *logs) redact(in *Input, t *session.Timeline) error { return l.veil.input(in, t, &l.unread) }

// stored gives a log of the session as it is stored.
func (l *logs) stored(ix *session.Index, event bool) record.Records {
	return readableOf(&l.unread, ix, event)
}

// historyOf is both logs as they are stored.
func historyOf(t *session.Timeline, u *record.Unread) redact.History {
	return redact.History{Messages: readableOf(u, t.Messages, false), Events: readableOf(u, t.Events, true), Before: t.Before}
}

// readable gives a log of the session as packs show it.
func (l *logs) readable(t *session.Timeline, event bool) record.Records {
	ix := t.Messages
	if event {
		ix = t.Events
	}
	raw := &readable{Index: ix, event: event, unread: &l.unread}
	if l.veil != nil {
		raw.veil, raw.history = l.veil, historyOf(t, &l.unread)
	}
	return raw
}

// timeline is that of the session. Where secrets are not to be shown it fails without the events: they tell of secrets that messages repeat.
func (l *logs) timeline(x *session.Session) (*session.Timeline, error) {
	if l.veil != nil {
		return wholeTimeline(x)
	}
	return x.Timeline()
}

// veiled says whether the record at an address is shown otherwise than it is stored.
func (l *logs) veiled(t *session.Timeline, at record.Address) bool {
	return l.veil != nil && l.veil.changes(historyOf(t, &l.unread), at)
}

// placesOf says up to which record of messages and of events packs know the logs.
func placesOf(t *session.Timeline) [2]int {
	upTo := [2]int{t.Messages.Len(), 0}
	if n := len(t.Tools); n > 0 {
		upTo[1] = int(t.Tools[n-1].Line)
	}
	return upTo
}

// wholeTimeline is the session's timeline; it fails where a part of it cannot be read.
func wholeTimeline(x *session.Session) (*session.Timeline, error) {
	t, err := x.Timeline()
	if err == nil {
		err = t.EventsErr
	}
	return t, err
}

const settlePause = 200 * time.Microsecond

// snapshot fills in both logs as they were at one moment. An event whose place
// is not certain in time stands in a later pack.
func (l *logs) snapshot(ctx context.Context, x *session.Session, in *Input) (t *session.Timeline, err error) {
	begin, asked := time.Now(), int64(-1)
	for {
		if t, err = l.timeline(x); err != nil {
			return nil, err
		}
		if asked < 0 {
			asked = t.Events.Size() // what comes later may stand in a later pack
		}
		if t.Settled >= asked || time.Since(begin) > mostSettling {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(settlePause):
		}
	}
	in.Messages = l.readable(t, false)
	in.NoEvents = t.EventsErr != nil
	if in.Head, err = x.Messages().HeadAt(t.Messages.Size()); err != nil {
		return nil, err
	}
	if n := len(t.Tools); n > 0 {
		last := t.Events.At(int(t.Tools[n-1].Line))
		in.Tools, in.Events = t.Tools, l.readable(t, true)
		in.EventsHead, err = x.Events().HeadAt(last.Offset + int64(last.Len) + 1)
	}
	return t, err
}

// until gives in the history of t.
func (l *logs) until(in *Input, x *session.Session, t *session.Timeline) (err error) {
	in.EpochReason, in.Messages, in.Tools, in.Events, in.EventsHead = "", l.readable(t, false), nil, nil, ""
	in.NoEvents = t.EventsErr != nil
	if in.Head, err = x.Messages().HeadAt(t.Messages.Size()); err != nil {
		return err
	}
	if k := len(t.Tools); k > 0 {
		last := t.Events.At(int(t.Tools[k-1].Line))
		in.Tools, in.Events = t.Tools, l.readable(t, true)
		in.EventsHead, err = x.Events().HeadAt(last.Offset + int64(last.Len) + 1)
	}
	in.Summaries, in.SummaryNote = in.usable(), ""
	in.Redaction = l.veil.until(in.Redaction, t)
	return err
}

// A tool event has its place when no message is on its way any more that may
// stand in front of it. One takes microseconds, and on a busy machine as long as
// its writer is not let go on; more than mostSettling is the disk's.
const (
	mostSettling = 5 * time.Second
)
