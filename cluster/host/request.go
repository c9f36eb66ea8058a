package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/peers"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// request is something that waits to be committed.
type request struct {
	peers.Request
	object []byte    // to be put among the objects first; nil: nothing
	from   string    // the host that handed it over; "": it is of this one
	next   uint64    // of that hand-over; see peers.Append
	since  time.Time // when it was asked for
	op     string    // for errors
	name   string

	sent   doubt // that it may come to stand in the journal, or stands there
	stored bool  // it stands in the journal, and could not be applied
	done   chan answer
}

// doubt is what may be under way of which nobody knows whether it arrives.
type doubt int

const (
	sure   doubt = iota
	sent         // an append to the engine: any entry behind the expected one decides it
	handed       // a request to another host: an entry of this host decides it
)

// answer is what became of a request.
type answer struct {
	outcome peers.Outcome
	end     int64             // where the log ends behind it
	over    *session.Revision // what a change has replaced unseen; see replica.Result
	entry   uint64            // where the change stands
	err     error
}

// errUnknown is the cause of an answer of which nobody knows whether it is true.
var errUnknown = errors.New("no host and no server said what became of it")

// errLost is the error of a journal that lacks what this host has read.
var errLost = errors.New("the cluster has lost entries of this journal that were acknowledged; see the cluster's status")

// errEnded is the error of a journal that takes nothing more.
var errEnded = errors.New("the session was removed, or is about to be withdrawn, on another host")

// id returns an id for an entry, once.
func (h *Host) id() string { return fmt.Sprintf("%s-%016x-%d", h.o.Name, h.boot, h.ids.Add(1)) }

// key returns a key for a request that has none.
func (h *Host) key() arrival.Key { return arrival.Key{Conn: h.boot, Unique: h.keys.Add(1)} }

func newRequest(op, name string) *request {
	return &request{op: op, name: name, since: time.Now(), done: make(chan answer, 1)}
}

// records returns the request to commit a batch.
func records(l *log.Log, b log.Batch, at int64, key arrival.Key) *request {
	r := newRequest("append", l.Name())
	r.Kind, r.Key, r.At, r.Data = journal.Event, key, at, b.Data
	if l.Name() == ctxabi.MessagesFile {
		r.Kind = journal.Message
	}
	r.UID, r.PID, r.Len, r.SHA = b.Writer.UID, b.Writer.PID, int64(len(b.Data)), sha256.Sum256(b.Data)
	if len(b.Data) > journal.MaxBody {
		r.object, r.Data = b.Data, nil
	}
	return r
}

// change returns the request of a host to commit a change.
func change(c session.Change, host string, key arrival.Key) *request {
	r := newRequest(string(c.Kind), c.Name)
	of := &replica.Change{Change: c, Key: key, Host: host}
	row, body := of.Row()
	r.Alone = of.Alone()
	r.Kind, r.Key, r.Content, r.Body = row.Kind, key, row.Content, row.Body
	if len(body) != len(row.Body) {
		r.object = body
	}
	return r
}

// isRecords reports whether the request is one of a log.
func (r *request) isRecords() bool { return r.Kind == journal.Message || r.Kind == journal.Event }

// size is how much the request adds to the bodies of an entry.
func (r *request) size() int { return len(r.Data) + len(r.Body) }

// failure returns what the one who asked is told if it ends with err.
func (r *request) failure(err error) answer {
	switch {
	case r.stored:
		return answer{outcome: peers.Committed, err: &ctxabi.Error{Op: r.op, Path: r.name, Kind: ctxabi.ErrIO, Err: err,
			Why: "the cluster has it, but this host could not take it into its copy yet; read the tail before you send it again"}}
	case r.sent != sure:
		return answer{outcome: peers.Unknown, err: &ctxabi.Error{Op: r.op, Path: r.name, Kind: ctxabi.ErrIO, Err: err,
			Why: "the outcome is unknown; read the tail before you send it again"}}
	}
	return answer{outcome: peers.Void, err: kinded(r.op, r.name, err)}
}

// kinded returns err as one of the kinds of ctxabi.
func kinded(op, name string, err error) error {
	if _, ok := errors.AsType[*ctxabi.Error](err); ok {
		return err
	}
	e := &ctxabi.Error{Op: op, Path: name, Kind: ctxabi.ErrIO, Err: err, Why: "it was not stored"}
	for _, k := range []struct{ is, kind error }{
		{engine.ErrUnreachable, ctxabi.ErrUnreachable}, {replica.ErrBehind, ctxabi.ErrUnreachable}, {engine.ErrUnknown, ctxabi.ErrUnreachable},
		{engine.ErrBusy, ctxabi.ErrUnreachable}, {context.DeadlineExceeded, ctxabi.ErrUnreachable}, {context.Canceled, ctxabi.ErrUnreachable},
		{engine.ErrFull, ctxabi.ErrNoSpace}, {ctxabi.ErrNoSpace, ctxabi.ErrNoSpace}, {engine.ErrDenied, ctxabi.ErrDenied},
		{engine.ErrTooLarge, ctxabi.ErrTooLarge}, {journal.ErrVersion, ctxabi.ErrReadOnly}, {errEnded, ctxabi.ErrNotFound},
	} {
		if errors.Is(err, k.is) {
			e.Kind = k.kind
			break
		}
	}
	if errors.Is(err, journal.ErrGap) || errors.Is(err, journal.ErrChain) || errors.Is(err, journal.ErrDamaged) {
		e.Why = "the servers lack entries of the session's journal, or have others; see ctxfs cluster status. A host that has read them still shows them"
	}
	return e
}

// misplaced returns the error of records for a place at which their log does not end.
func misplaced(r *request, end int64) error {
	return ctxabi.E(r.op, r.name, ctxabi.ErrConflict, "the log ends at %d, not at %d", end, r.At)
}

// committed returns the answer to a request whose row in entry i was applied.
func committed(i uint64, result replica.Result) answer {
	return answer{outcome: peers.Committed, end: result.End, over: result.Over, entry: i, err: result.Err}
}
