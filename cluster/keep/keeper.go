package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

const (
	// Every is how often replicas are looked at.
	Every = 10 * time.Second

	userEvery   = 2 * time.Second // how often a keeper looks who may connect
	callTimeout = 5 * time.Second // of a call to the servers
	makeTimeout = 2 * time.Minute
)

// Keeper looks after a cluster from the machine of one of its servers.
type Keeper struct {
	Machine member.Machine
	Unsafe  bool   // the operator accepts what the cluster lacks
	Changed func() // called when the users of the machine's server have changed on the disk
	// ScrubEvery is how long after a scrub the next one begins; 0: none does.
	ScrubEvery time.Duration
	// Pause stops the machine's server, calls f, and starts the server again. It returns the error of f, or
	// that of the start. If it is nil, no replica is repaired.
	Pause     func(f func() error) error
	Log       func(string)      // takes a sentence for the operator
	said      map[string]string // the last sentence about each matter
	seen      uint64            // sequence of the last report that this keeper has seen
	looked    time.Time         // when it looked at the report
	engine    *nats.Engine      // nil while there is no connection
	leaders   <-chan string     // streams that got a leader
	hurry     bool              // a leader was elected that nobody has looked at
	report    []Stream          // the streams as somebody last saw them
	watch     watch             // replicas of this machine's server that differ
	mending   bool              // replicas of this machine's server were made anew, and catch up
	healSeq   uint64            // of what stood in CTX_META about repairs
	healAt    time.Time         // when this keeper first saw that
	scrubSeq  uint64            // of what the last scrub has found
	scrubAt   time.Time         // when the next one is due
	scrubbing atomic.Bool
	others    sync.WaitGroup // what runs beside the rounds
}

// Run looks after the cluster until ctx is done.
func (k *Keeper) Run(ctx context.Context) {
	k.said, k.watch = map[string]string{}, watch{}
	defer func() {
		k.others.Wait()
		if k.engine != nil {
			k.engine.Close()
		}
	}()
	tick := time.NewTicker(userEvery)
	defer tick.Stop()
	for {
		k.round(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-k.leaders:
			k.hurry = true
		}
	}
}

// round does what is due.
func (k *Keeper) round(ctx context.Context) {
	err := k.connect(ctx)
	if err == nil {
		err = k.store(ctx)
	}
	if err == nil && k.hurry {
		err = k.hasten(ctx)
	}
	if err == nil {
		err = k.users(ctx)
	}
	if err == nil && time.Since(k.looked) >= Every {
		err = k.attest(ctx)
	}
	if err == nil {
		err = k.heal(ctx)
	}
	if err == nil {
		err = k.scrub(ctx)
	}
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, engine.ErrGone):
		k.say("maintenance", fmt.Sprintf("ALARM: %v. ctxfs cluster restore makes it from the last backup", err))
	case err != nil:
		k.say("maintenance", fmt.Sprint("maintenance waits: ", err))
	default:
		k.say("maintenance", "")
	}
}

// connect opens the links to the servers, if they are not.
func (k *Keeper) connect(ctx context.Context) error {
	if k.engine != nil {
		return nil
	}
	o, err := k.Machine.Maintenance()
	if err != nil {
		return err
	}
	o.Timeout, o.Unsafe = callTimeout, true // what is unsafe, the statement names
	short, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	e, err := nats.Look(short, o)
	if err != nil {
		return err
	}
	if k.leaders, err = e.Elections(); err != nil {
		e.Close()
		return err
	}
	k.engine, k.hurry = e, true // elections may have been while there was no connection
	return nil
}

// hasten looks at leaders that were just elected. What it cannot write it looks at again in the next round.
func (k *Keeper) hasten(ctx context.Context) error {
	for len(k.leaders) > 0 { // one look is for all
		<-k.leaders
	}
	var err error
	for range 3 {
		if err = k.elected(ctx); !isConflict(err) { // else another keeper was first, perhaps before the election
			break
		}
	}
	if k.hurry = err != nil; isConflict(err) {
		return nil
	}
	return err
}

// users hands on who may connect: what stands in the cluster, or, when nothing does, what this server has.
func (k *Keeper) users(ctx context.Context) error {
	note, err := k.engine.Meta(ctx, nats.MetaUsers)
	if err != nil {
		return err
	}
	if note.Seq == 0 {
		c, err := member.ReadServer(k.Machine.ServerFile())
		if err != nil {
			return err
		}
		if err = PutUsers(ctx, k.engine, 0, c.Users); isConflict(err) {
			err = nil
		}
		return err
	}
	var list []member.User
	if err := json.Unmarshal(note.Data, &list); err != nil {
		return fmt.Errorf("%w: the users of the cluster: %w", member.ErrConfig, err)
	}
	changed, err := k.Machine.SetUsers(list)
	if changed && err == nil {
		k.Log(fmt.Sprintf("%d users may connect now", len(list)))
		k.Changed()
	}
	return err
}

// Users returns who may connect, and the sequence for PutUsers. It returns engine.ErrNotFound if no
// server has said so yet, and the errors of nats.Engine's Meta.
func Users(ctx context.Context, e *nats.Engine) (list []member.User, seq uint64, err error) {
	note, err := e.Meta(ctx, nats.MetaUsers)
	if err == nil && note.Seq == 0 {
		err = fmt.Errorf("%w: the servers have not named their users yet", engine.ErrNotFound)
	}
	if err == nil {
		err = json.Unmarshal(note.Data, &list)
	}
	return list, note.Seq, err
}

// PutUsers writes who may connect, if nobody has since the sequence after. It returns *engine.Conflict if
// somebody has, and the errors of nats.Engine's SetMeta.
func PutUsers(ctx context.Context, e *nats.Engine, after uint64, list []member.User) error {
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return e.SetMeta(ctx, nats.MetaUsers, after, data)
}
