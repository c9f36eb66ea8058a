package keeper

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// apply makes true what was read and is not true yet. It returns the error of the disk; what was not done is
// done by the next call. Files whose content cannot be fetched stay as they are, which is no error of who
// commits something else. The caller has the turn.
func (o *owner) apply(ctx context.Context) error {
	if err := o.receive(); err != nil {
		return err
	}
	if len(o.touched.Agents)+len(o.touched.Sessions)+len(o.touched.Files) > 0 {
		o.late = nil
		if err := o.makeTrue(ctx); err != nil {
			return vfs.Failed("apply", "", vfs.WithKind(err), "what was committed is not shown yet")
		}
		if o.late != nil {
			o.k.o.Logger.Warn("content of files is not here yet", "owner", o.ref.Owner(), "err", o.late)
			return nil
		}
	}
	return o.done()
}

// receive applies the entries that came to the wanted state, once they are in the copy.
func (o *owner) receive() error {
	o.queue.Lock()
	came := o.came
	o.came = nil
	o.queue.Unlock()
	var lines []line
	for _, in := range came {
		o.copy.seq = in.from.Seq
		if in.state != nil { // the copy begins anew once this is true; until then it is what was true before
			o.touched.Add(o.copy.have.All())
			o.touched.Add(o.copy.want.All())
			o.touched.Add(in.state.All())
			o.copy.want, o.whole, o.copy.torn = in.state, true, true
			continue
		}
		a, err := o.copy.want.Apply(in.from)
		if err != nil {
			return fmt.Errorf("entry at %d, which was read: %w", in.from.Seq, err)
		}
		o.waiting = append(o.waiting, in.from)
		o.touched.Add(a.Touched)
		lines = append(lines, line{Entry: &stored{in.from.Seq, in.from.ID, in.from.Header, in.from.Payload}})
	}
	if err := o.copy.add(true, lines...); err != nil {
		o.k.o.Logger.Warn("the copy of a journal of names is not kept up", "owner", o.ref.Owner(), "err", err)
	}
	return nil
}

// done notes that all that was read is true.
func (o *owner) done() error {
	if o.copy.have.At() == o.copy.want.At() {
		return nil
	}
	if o.whole {
		o.copy.have = clone(o.copy.want)
	} else {
		for _, from := range o.waiting {
			if _, err := o.copy.have.Apply(from); err != nil {
				return fmt.Errorf("entry at %d, which was read: %w", from.Seq, err)
			}
		}
	}
	o.waiting, o.whole, o.touched, o.copy.moves = nil, false, names.Touched{}, nil
	i := o.copy.have.At().I
	err := o.copy.add(false, line{Done: &i})
	if err == nil && (o.copy.torn || o.copy.lines > maxLines) {
		err = o.copy.rewrite()
	}
	if err != nil {
		o.k.o.Logger.Warn("the copy of a journal of names is not kept up", "owner", o.ref.Owner(), "err", err)
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

// do makes one change of the disk.
func (o *owner) do(what string, change func() error) error {
	if err := o.k.step(what); err != nil {
		return err
	}
	if err := change(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// hashOf returns the SHA-256 value of data in hexadecimal.
func hashOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
