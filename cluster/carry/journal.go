package carry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// walked is what the entries of a journal amount to.
type walked struct {
	at    journal.Position
	seq   uint64 // of the last entry; 0: there is none
	ended bool
	by    string // what the row says that ended it last
}

// walk reads the journal s, which nobody appends to, or only behind its end. It returns journal.ErrGap and other
// errors of journal.Open if entries are missing, and those of the engine.
func (c *Carrier) walk(ctx context.Context, s engine.Subject) (w walked, err error) {
	w.at = journal.Start(s)
	end, err := c.o.Engine.Last(ctx, s, true)
	if errors.Is(err, engine.ErrDenied) {
		end, err = c.o.Engine.Last(ctx, s, false)
	}
	leader := false
	for err == nil && w.seq < end.Seq {
		var list []engine.Entry
		if list, err = c.o.Engine.Read(ctx, s, engine.Range{From: w.seq + 1, Leader: leader}); err != nil {
			break
		}
		was := w.seq
		for _, e := range list {
			if err = w.take(e); err != nil {
				break
			}
		}
		if w.seq > was {
			leader, err = false, nil
			continue
		}
		if leader {
			err = errors.Join(fmt.Errorf("%w: from %d to %d of %s", replica.ErrBehind, was+1, end.Seq, s), err)
		} else {
			leader, err = true, nil
		}
	}
	return w, err
}

// take takes the next entry.
func (w *walked) take(from engine.Entry) error {
	if from.ID == "" {
		w.seq = from.Seq
		return nil
	}
	e, next, err := journal.Open(w.at, from)
	if errors.Is(err, journal.ErrGap) && w.seq == 0 { // trimmed: it begins with a snapshot
		if e, err = journal.Peek(from); err != nil {
			return err
		}
		saved, bad := bulk.SavedIn(e)
		if bad != nil {
			return bad
		}
		e, next, err = journal.Open(saved.At, from)
	}
	if err != nil {
		return err
	}
	for _, r := range e.Rows {
		switch r.Kind {
		case journal.End:
			w.ended, w.by = true, string(r.Content)
		case journal.Snapshot:
			w.ended = false
		}
	}
	w.at, w.seq = next, from.Seq
	return nil
}

// tries is how often an entry is sent that nobody could answer.
const tries = 20

// put appends an entry behind w, which nobody else appends to at the moment. It returns ctxabi.ErrConflict if somebody
// does, and the errors of the engine if it is not known to be there.
func (c *Carrier) put(ctx context.Context, s engine.Subject, w walked, row journal.Row) (walked, error) {
	header, payload, next, err := journal.Seal(w.at, c.o.Name, ctxabi.FormatVersion, []journal.Row{row})
	if err != nil {
		return w, err
	}
	id := "carry-" + strings.ToLower(rand.Text())
	var seq uint64
	for n := range tries {
		seq, err = c.o.Engine.Append(ctx, s, w.seq, id, header, payload)
		if conflict, ok := errors.AsType[*engine.Conflict](err); ok && conflict.Last > w.seq {
			var end engine.Entry
			if end, err = c.o.Engine.Last(ctx, s, true); err == nil && (!maps.Equal(end.Header, header) || !slices.Equal(end.Payload, payload)) {
				err = ctxabi.E("publish", "", ctxabi.ErrConflict, "another host has appended to the journal of the session meanwhile; run it again")
			}
			seq = end.Seq
		} else if ok {
			err = fmt.Errorf("%w: %w", engine.ErrUnreachable, err) // who answers knows less than was read
		}
		again := errors.Is(err, engine.ErrBusy) || errors.Is(err, engine.ErrUnknown) || errors.Is(err, engine.ErrUnreachable)
		if err == nil || !again || ctx.Err() != nil {
			break
		}
		pause(ctx, n)
	}
	if err != nil {
		return w, err
	}
	w.at, w.seq = next, seq
	w.ended = row.Kind == journal.End
	return w, nil
}

// pause waits a little longer each time.
func pause(ctx context.Context, n int) {
	t := time.NewTimer(min(time.Duration(n)*5*time.Millisecond, 200*time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
