package names

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Errors of a replica whose journal is not what it was.
var (
	// ErrOlder is the error of a replica whose journal ends before what it has read: entries are lost, or a
	// leader that is cut off answers and does not know.
	ErrOlder = errors.New("the journal of names ends before what was read")
	// ErrMissing is the error of a replica that cannot read entries which the leader has.
	ErrMissing = errors.New("entries of the journal of names cannot be read")
)

// rowFormat is the format of rows of logs in entries of an owner, which have none.
const rowFormat = 1

// Replica is an owner's journal as one host has read it. It is safe for concurrent use.
type Replica struct {
	e       engine.Engine
	host    string
	subject engine.Subject
	boot    string
	taken   func(from engine.Entry, a Applied)
	pause   func(ctx context.Context, tries int)

	turn chan struct{} // held by who reads or appends
	n    int           // ids used; guarded by turn
	seq  uint64        // of the last entry that was read; guarded by turn
	sent map[string]*Applied

	jumped bool // the state was replaced by that of a snapshot since Commit began; guarded by turn

	mu    sync.RWMutex
	state *State // replaced and changed with turn and mu
}

// Options of a replica. The zero value is right for a test.
type Options struct {
	State *State // what the host has already, from now on the replica's; nil: nothing
	Seq   uint64 // of the last entry of it
	// Taken is called for each entry that was applied, in their order, and with an Applied without an entry
	// host when the state was replaced by that of a snapshot. It may call nothing of the replica but View.
	Taken func(from engine.Entry, a Applied)
}

// NewReplica returns a replica of an owner's journal. It asks the engine nothing.
func NewReplica(e engine.Engine, host string, s engine.Subject, o Options) *Replica {
	var boot [8]byte
	rand.Read(boot[:])
	r := &Replica{e: e, host: host, subject: s, boot: hex.EncodeToString(boot[:]), taken: o.Taken, pause: backOff,
		turn: make(chan struct{}, 1), seq: o.Seq, sent: map[string]*Applied{}, state: o.State}
	if r.state == nil {
		r.state, r.seq = New(s), 0
	}
	return r
}

// backOff waits a little longer with each try, at most 20 ms.
func backOff(ctx context.Context, tries int) {
	t := time.NewTimer(min(time.Duration(tries)*time.Millisecond, 20*time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// View calls look with the state as this host has read it, which may be behind the journal. look must not keep
// the state, and not call the replica.
func (r *Replica) View(look func(s *State)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	look(r.state)
}

// enter waits for the turn. It returns ErrUnreachable if ctx is done before.
func (r *Replica) enter(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, ctx.Err())
	}
}

func (r *Replica) leave() { <-r.turn }

// CatchUp reads the journal to its end. It returns ErrOlder or ErrMissing if the journal is not what was read,
// the errors of journal.Open if an entry is damaged, and an error of the engine.
func (r *Replica) CatchUp(ctx context.Context) error {
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.leave()
	return r.catchUp(ctx)
}

// Follow applies entries as they come, until ctx is done; it looks at the end of the journal at least once in
// each interval. stale is called with the error when that fails, and with nil when it succeeds. It returns the
// error of an engine that gives no feed.
func (r *Replica) Follow(ctx context.Context, interval time.Duration, stale func(err error)) error {
	feed, err := r.e.Follow(ctx, r.subject)
	if err != nil {
		return err
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	stale(r.CatchUp(ctx))
	for {
		select {
		case from, ok := <-feed.Entries:
			if !ok || ctx.Err() != nil {
				return nil
			}
			if known, err := r.offer(ctx, from); known {
				if err == nil {
					stale(nil)
				}
				continue
			}
		case <-feed.Lost:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if err := r.CatchUp(ctx); ctx.Err() == nil {
			stale(err)
		}
	}
}

// offer applies an entry of a feed if it is the next one. known is false if the journal is to be read.
func (r *Replica) offer(ctx context.Context, from engine.Entry) (known bool, err error) {
	if err := r.enter(ctx); err != nil {
		return true, err
	}
	defer r.leave()
	if from.Seq <= r.seq {
		return true, nil
	}
	if from.Prev != r.seq || from.ID == "" {
		return false, nil
	}
	return r.take(from) == nil, nil
}

// Commit carries an operation out on the newest state. It returns the entry, without rows if there was
// nothing to do; the error with which the state refuses the operation; engine.ErrUnreachable if it was not
// done; and ctxabi.ErrIO with engine.ErrUnknown if it may have been done, or may come to be.
func (r *Replica) Commit(ctx context.Context, op Op) (Applied, error) {
	if err := r.enter(ctx); err != nil {
		return Applied{}, err
	}
	defer r.leave()
	clear(r.sent)
	r.jumped = false
	unknown, expected := false, uint64(0)
	for tries := 0; ; tries++ {
		rows, err := r.plan(op)
		// A refusal counts once nothing newer is known to exist; what is planned needs no such proof.
		if err != nil || len(rows) == 0 || unknown || tries > 0 {
			if late := r.catchUp(ctx); late != nil {
				if a := r.landed(); a != nil {
					return *a, nil
				}
				if tries++; r.again(ctx, late) {
					r.pause(ctx, tries)
					continue
				}
				return Applied{}, outcome(unknown, late)
			}
			if a := r.landed(); a != nil {
				return *a, nil
			}
			// If something else stands where the entry would, it never will; unless that was passed over.
			unknown = unknown && (r.seq == expected || r.jumped)
			rows, err = r.plan(op)
			if err != nil && unknown {
				return Applied{}, outcome(unknown, err)
			}
		}
		if err != nil || len(rows) == 0 {
			return Applied{}, err
		}
		a, err := r.append(ctx, rows)
		if err == nil {
			return a, nil
		}
		if !engine.Settled(err) {
			unknown, expected = true, r.seq
		}
		if !r.again(ctx, err) {
			return Applied{}, outcome(unknown, err)
		}
		if _, conflict := errors.AsType[*engine.Conflict](err); !conflict {
			r.pause(ctx, tries+1)
		}
	}
}

// again reports whether to look at the journal and try again after an error.
func (r *Replica) again(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	_, conflict := errors.AsType[*engine.Conflict](err)
	return conflict || errors.Is(err, engine.ErrBusy) || errors.Is(err, engine.ErrUnknown) || errors.Is(err, ErrOlder) || errors.Is(err, ErrMissing)
}

// outcome returns the error of an operation as its user sees it.
func outcome(unknown bool, err error) error {
	if unknown {
		return &ctxabi.Error{Op: "commit", Kind: ctxabi.ErrIO, Why: "the cluster did not say whether it was done; look before you do it again",
			Err: fmt.Errorf("%w (%v)", engine.ErrUnknown, err)}
	}
	switch {
	case errors.Is(err, engine.ErrFull):
		return &ctxabi.Error{Op: "commit", Kind: ctxabi.ErrNoSpace, Why: "it was not done", Err: err}
	case errors.Is(err, engine.ErrDenied):
		return &ctxabi.Error{Op: "commit", Kind: ctxabi.ErrDenied, Why: "it was not done", Err: err}
	case errors.Is(err, engine.ErrUnreachable):
		return err
	case errors.Is(err, engine.ErrBusy):
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	return &ctxabi.Error{Op: "commit", Kind: ctxabi.ErrIO, Why: "it was not done", Err: err}
}

// plan returns the rows that do an operation in the state as it is.
func (r *Replica) plan(op Op) (rows []journal.Row, err error) {
	r.mu.Lock() // Check changes the state, and changes it back
	defer r.mu.Unlock()
	if rows, err = op.Plan(r.state, r.host); err == nil {
		err = r.state.Check(rows)
	}
	return rows, err
}

// append stores an entry behind the last one that was read, and applies it. An append whose outcome is unknown
// needs no fence: whatever is appended next expects the same sequence, so that only one of both can come to
// stand there, and catchUp finds out which by the id.
func (r *Replica) append(ctx context.Context, rows []journal.Row) (Applied, error) {
	header, payload, _, err := journal.Seal(r.state.at, r.host, rowFormat, rows)
	if err != nil {
		return Applied{}, err
	}
	r.n++
	id := fmt.Sprintf("%s-%s-%d", r.host, r.boot, r.n)
	a := new(Applied)
	r.sent[id] = a
	seq, err := r.e.Append(ctx, r.subject, r.seq, id, header, payload)
	if err != nil {
		if engine.Settled(err) {
			delete(r.sent, id)
		}
		return Applied{}, err
	}
	if err := r.take(engine.Entry{Seq: seq, ID: id, Header: header, Payload: payload}); err != nil {
		return Applied{}, err
	}
	return *a, nil
}

// landed returns the entry of this commit that was read from the journal, or nil.
func (r *Replica) landed() *Applied {
	for _, a := range r.sent {
		if a.Entry.Host != "" {
			return a
		}
	}
	return nil
}

// catchUp reads the journal to its end.
func (r *Replica) catchUp(ctx context.Context) error {
	end, err := r.e.Last(ctx, r.subject, true)
	if err != nil {
		return err
	}
	if end.Seq < r.seq {
		return fmt.Errorf("%w: %s at %d, and %d was read", ErrOlder, r.subject, end.Seq, r.seq)
	}
	for stale := 0; r.seq < end.Seq; {
		list, err := r.e.Read(ctx, r.subject, engine.Range{From: r.seq + 1, Leader: stale > 2})
		if err != nil {
			return err
		}
		before := r.seq
		for _, from := range list {
			if err = r.takeOrJump(ctx, from); err != nil {
				break
			}
		}
		if r.seq > before {
			stale = 0
			continue
		}
		if stale++; stale > 6 || ctx.Err() != nil {
			return errors.Join(fmt.Errorf("%w: from %d to %d of %s", ErrMissing, r.seq+1, end.Seq, r.subject), err)
		}
	}
	return nil
}

// take applies the next entry. An entry without an id was not stored by a host: it only takes a place.
func (r *Replica) take(from engine.Entry) error {
	if from.ID == "" {
		r.seq = from.Seq
		return nil
	}
	r.mu.Lock()
	a, err := r.state.Apply(from)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	r.seq = from.Seq
	if own, ok := r.sent[from.ID]; ok && strings.HasPrefix(from.ID, r.host) {
		*own = a
	}
	if r.taken != nil {
		r.taken(from, a)
	}
	return nil
}
