package transcript

import (
	"cmp"
	"fmt"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// importOutput is where a format puts the records of one transcript.
type importOutput struct {
	*Importer
	from *Transcript

	// Of the first transcript of a session, and of one of which the user says the format, events wait for the first message: where there is
	// none the session must not be made, or get these events for good.
	holds  bool
	held   []adapter.Record
	losses []adapter.Loss // of these

	said     int // source records of the conversation
	branches []branch
}

// branch is a run of consecutive records on an abandoned branch.
type branch struct {
	where string // the first one
	n     int
	said  int // source records of the conversation before its end
}

// leave counts a record on an abandoned branch.
func (o *importOutput) leave(where string) {
	o.Count.Left++
	if n := len(o.branches); n == 0 || o.branches[n-1].said != o.said {
		o.branches = append(o.branches, branch{where: where, said: o.said})
	}
	o.branches[len(o.branches)-1].n++
}

// reportBranches reports abandoned branches that are longer than the conversation after them, or
// all branches if AllBranches is set.
func (o *importOutput) reportBranches() {
	for _, b := range o.branches {
		if b.n <= o.said-b.said && !o.AllBranches {
			continue
		}
		where := b.where
		if b.n > 1 {
			where = fmt.Sprintf("%d records from %s on", b.n, where)
		}
		o.Loss(adapter.Loss{Where: where, What: "on a branch that was left; kept as events, which no pack shows"})
	}
}

// release puts what waits into the session.
func (o *importOutput) release() (err error) {
	held, lost := o.held, o.losses
	o.holds, o.held, o.losses = false, nil, nil
	for _, l := range lost {
		o.Loss(l)
	}
	for _, r := range held {
		err = cmp.Or(err, o.Record(r))
	}
	return err
}

func (o *importOutput) Loss(l adapter.Loss) {
	if o.holds {
		o.losses = append(o.losses, l)
		return
	}
	o.Importer.losses.Add(o.from.Name, l)
}

func (o *importOutput) Record(r adapter.Record) error {
	if err := o.ctx.Err(); err != nil {
		return err
	}
	if o.holds {
		if r.Event && !(o.from.format.Verbatim && !r.Kept()) {
			o.held = append(o.held, r)
			return nil
		}
		if err := o.release(); err != nil {
			return err
		}
	}
	if err := o.learn(r.Chain); err != nil {
		return err
	}
	t, err := o.target(r.Chain)
	if err != nil {
		return err
	}
	if !o.from.format.Verbatim {
		r = o.known.Place(r)
	}
	where := func() string {
		if s, ok := r.Stamp(); ok && len(s.At) > 0 {
			return fmt.Sprintf("source record %d", s.At[0]+1)
		}
		return "a record"
	}
	switch s, ok := r.Stamp(); {
	case !o.from.format.Verbatim && r.Abandoned():
		o.leave(where())
	case !r.Event && ok:
		o.said += len(s.IDs)
	}
	fit, lost := r.Fit()
	if lost != "" {
		o.Loss(adapter.Loss{Where: where(), What: lost})
	}
	o.known.Add(fit)
	t.note(fit, o.from.format)
	return t.add(fit)
}
