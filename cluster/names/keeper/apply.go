package keeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// apply makes true what was read and is not true yet. It returns the error of the disk; what was not done is
// done by the next call, before anything else. Files whose content cannot be fetched stay as they are, which
// is no error of who commits something else. The caller has the turn.
func (o *owner) apply(ctx context.Context) error {
	for {
		if !o.copy.settled() || len(o.copy.missing) > 0 {
			if err := o.makeTrue(ctx); err != nil {
				return vfs.Failed("apply", "", vfs.WithKind(err), "what was committed is not shown yet")
			}
			if err := o.done(); err != nil {
				return vfs.Failed("apply", "", vfs.WithKind(err), "what was committed is not noted yet")
			}
		}
		if more, err := o.receive(); err != nil || !more {
			return err
		}
	}
}

// makeAgain makes what may have been touched what the state has, whatever the disk has. All else that was read is
// true. It returns the error of the disk.
func (o *owner) makeAgain(ctx context.Context, again names.Touched) error {
	o.touched.Add(again)
	if err := errors.Join(o.makeTrue(ctx), o.done()); err != nil {
		return vfs.Failed("apply", "", vfs.WithKind(err), "what was committed is not shown yet")
	}
	o.touched = names.Touched{}
	return nil
}

// fileTouched returns a Touched of one file.
func (o *owner) fileTouched(name string) names.Touched {
	place := names.Place{Rel: name}
	if agent, rel, ok := names.SplitHome(name); ok {
		_, born, _ := o.copy.want.Agent(agent)
		place = names.Place{Born: born, Rel: rel}
	}
	return names.Touched{Files: map[names.Place]bool{place: true}}
}

// receive applies the entries that came to the wanted state, once they are in the copy. It reports whether
// there were some.
func (o *owner) receive() (more bool, err error) {
	o.queue.Lock()
	came := o.came
	o.queue.Unlock()
	var lines []line
	for _, in := range came {
		if in.state != nil {
			lines = append(lines, line{Jump: &jump{in.from.Seq, in.state.Encode()}})
		} else {
			lines = append(lines, line{Entry: &stored{in.from.Seq, in.from.ID, in.from.Header, in.from.Payload}})
		}
	}
	if err := o.copy.add(true, lines...); err != nil {
		return false, vfs.Failed("apply", "", vfs.WithKind(err), "what was committed is not shown yet")
	}
	o.queue.Lock()
	o.came = o.came[len(came):]
	o.queue.Unlock()
	for _, in := range came {
		if in.state != nil {
			o.touched.Add(o.copy.want.All())
			o.touched.Add(in.state.All())
			o.copy.jump(in.state, in.from.Seq)
			continue
		}
		a, err := o.copy.want.Apply(in.from)
		if err != nil {
			return false, fmt.Errorf("entry at %d, which was read: %w", in.from.Seq, err)
		}
		o.copy.seq, o.copy.waiting = in.from.Seq, append(o.copy.waiting, in.from)
		o.touched.Add(a.Touched)
	}
	return len(came) > 0, nil
}

// done notes that all that was read is true, but for the content of files that could not be fetched.
func (o *owner) done() error {
	var list []missing
	for place, n := range o.late {
		list = append(list, missing{place.Born, place.Rel, n})
	}
	if o.copy.settled() && len(list) == len(o.copy.missing) {
		return nil // as before
	}
	if err := o.copy.add(false, line{Done: &done{list}}); err != nil {
		return err
	}
	if err := o.copy.settle(list); err != nil {
		return fmt.Errorf("entries that were read: %w", err)
	}
	o.touched = names.Touched{}
	if o.copy.lines > maxLines && len(list) == 0 {
		return o.copy.rewrite()
	}
	return nil
}

// makeTrue makes the difference between what is true and what is wanted, as far as it was touched, on the disk.
// What is removed goes first, since its names may be those of what is made.
func (o *owner) makeTrue(ctx context.Context) error {
	for _, step := range []func() error{o.removeSessions, o.removeAgents, o.makeHome, o.moveAgents, o.makeAgents, o.placeSessions} {
		if err := step(); err != nil {
			return err
		}
	}
	return o.placeFiles(ctx)
}
