package keeper

import (
	"context"
	"fmt"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// How long Fresh waits.
const (
	AskFor  = 500 * time.Millisecond // for the end of a journal, from when it was asked for
	ShowFor = 10 * time.Second       // for what was read to be on the disk
)

// look is one look at the end of an owner's journal.
type look struct {
	began time.Time
	read  chan struct{} // closed when the journal was read to its end, or could not be
	done  chan struct{} // closed when all that was read is true
	err   error         // why it was not read, or not made true; set before done is closed
	lost  bool          // it was not read; set before read is closed
}

// Fresh makes true what the owner of ref had at the moment since, and enters him if that was not done yet. It
// asks for the end of his journal unless it knows that already; what many ask for at once is asked for once. It
// waits at most AskFor for the journal to be read, and ShowFor for what was read. A look that has
// begun goes on without whoever asked, and nobody waits for an answer that is overdue. So who cannot reach the
// cluster waits now and then, and not for each file.
//
// Fresh returns engine.ErrUnreachable if it is not known whether all of it is here, and the errors of Enter.
func (k *Keeper) Fresh(ref ctxabi.Ref, since time.Time) error {
	o, err := k.owner(ref)
	if err != nil {
		return err
	}
	for {
		l := o.lookSince(since)
		if l == nil {
			return nil
		}
		if !waitFor(l.read, l.began.Add(AskFor)) {
			return fmt.Errorf("%w: the end of %s is not known yet", engine.ErrUnreachable, o.subject)
		}
		if !l.lost && !waitFor(l.done, time.Now().Add(ShowFor)) {
			return fmt.Errorf("%w: what %s has is not here yet", engine.ErrUnreachable, o.subject)
		}
		if l.lost {
			<-l.done // nothing is left to do but to say why
		}
		if l.err != nil || !l.began.Before(since) {
			return l.err
		}
	}
}

// waitFor reports whether c is closed before the moment late.
func waitFor(c <-chan struct{}, late time.Time) bool {
	select {
	case <-c:
		return true
	default:
	}
	t := time.NewTimer(time.Until(late))
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// lookSince returns the look that is under way, which it begins if there is none; nil if the journal was read
// since a moment.
func (o *owner) lookSince(since time.Time) *look {
	o.queue.Lock()
	defer o.queue.Unlock()
	if o.entered && !o.confirmed.Before(since) {
		return nil
	}
	if o.looking == nil {
		o.looking = &look{began: time.Now(), read: make(chan struct{}), done: make(chan struct{})}
		if !o.k.begin() {
			o.looking.lost, o.looking.err = true, fmt.Errorf("%w: the mount ends", engine.ErrUnreachable)
			close(o.looking.read)
			close(o.looking.done)
			return o.looking
		}
		go o.run(o.looking)
	}
	return o.looking
}

// confirm notes that all that stood in the journal at the moment at is true.
func (o *owner) confirm(at time.Time) {
	o.queue.Lock()
	defer o.queue.Unlock()
	if at.After(o.confirmed) {
		o.confirmed = at
	}
}

// run does what a look is for.
func (o *owner) run(l *look) {
	defer o.k.tasks.Done()
	ctx, cancel := context.WithTimeout(o.k.ctx, o.k.o.Timeout)
	defer cancel()
	err := o.replica.CatchUp(ctx)
	o.setStale(err)
	l.lost = err != nil
	if l.lost {
		o.endLook(l, err)
		close(l.read)
		close(l.done)
		return
	}
	close(l.read)
	o.turn.Lock()
	err = o.apply(ctx)
	if err == nil {
		err = o.enter(ctx)
	}
	o.turn.Unlock()
	o.endLook(l, err)
	close(l.done)
}

func (o *owner) endLook(l *look, err error) {
	o.queue.Lock()
	defer o.queue.Unlock()
	l.err, o.looking = err, nil
	if err == nil && l.began.After(o.confirmed) {
		o.confirmed = l.began
	}
}

// Adopt commits what the file of the owner of ref is on this host, its content and its attributes, if that is not what hosts
// share. Who has it open and changed it commits it himself. It is no error if it is not shared, or not there.
// Adopt returns the errors of Commit and of engine.Objects.Put.
func (k *Keeper) Adopt(ctx context.Context, ref ctxabi.Ref, name string) error {
	o, err := k.owner(ref)
	if err != nil {
		return err
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	return o.adopt(ctx, name)
}
