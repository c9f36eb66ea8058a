package replica

import (
	"context"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// maxRun is how many bytes of entries are applied at once.
const maxRun = 1 << 20

// begun is an entry of which rows are applied and that does not count yet.
type begun struct {
	chain   journal.Hash // behind the entry
	results []Result     // of the rows that are applied, its first ones
	at      Position     // behind the entry, if it was applied with others; logs may end behind that
}

// entries is a run of entries that follow each other and have records alone, with their bodies.
type entries struct {
	list []Applied  // Results are those that the rows will have
	ends []Position // behind each of them
	rows []ready    // of all of them
}

// applyAll applies entries in their order, as Apply does. Those that bring records alone are written together:
// a row stands in front of another, and both in the order of the journal, at any moment, but the position is written once
// behind all of them. applyAll returns the errors of Apply; what was applied until then stays.
func (c *Copy) applyAll(ctx context.Context, list []engine.Entry) error {
	for len(list) > 0 {
		run, err := c.run(ctx, list)
		if err != nil {
			return err
		}
		n := len(run.list)
		if n > 1 {
			err = c.applyRun(ctx, run)
		} else {
			n, err = 1, c.Apply(ctx, list[0])
		}
		if err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// run returns the entries at the beginning of list that can be applied together: as many as maxRun allows. Of
// one that is alone, has anything else than records, does not fit, or was begun before, Apply knows what to do. run
// returns the error of a log that cannot be opened.
func (c *Copy) run(ctx context.Context, list []engine.Entry) (run entries, err error) {
	if len(list) == 1 || c.at.Ended || len(c.begun) > 0 {
		return run, nil
	}
	ends, err := c.ends()
	if err != nil {
		return run, err
	}
	at := c.at
	for size, i := 0, 0; i < len(list) && size+len(list[i].Payload) <= maxRun; i++ {
		from := &list[i]
		size += len(from.Payload)
		e, next, err := journal.Open(at.Position, *from)
		if from.ID == "" || err != nil || e.Format > ctxabi.FormatVersion || !recordsAlone(e.Rows) {
			break
		}
		rows, err := c.prepare(ctx, e.Rows, &ends)
		if err != nil {
			break
		}
		run.list = append(run.list, Applied{Seq: from.Seq, ID: from.ID, Entry: e, Results: recorded(rows)})
		at = Position{Position: next, Seq: from.Seq, Host: e.Host, Messages: ends.messages.Mark(), Events: ends.events.Mark()}
		run.rows, run.ends = append(run.rows, rows...), append(run.ends, at)
	}
	return run, nil
}

// recordsAlone reports whether rows are of records that came with them.
func recordsAlone(rows []journal.Row) bool {
	for i := range rows {
		if k := rows[i].Kind; k != journal.Message && k != journal.Event || len(rows[i].Body) == 0 {
			return false
		}
	}
	return true
}

// applyRun applies a run of entries. It returns the error of the disk; what is applied by then is not
// applied again.
func (c *Copy) applyRun(ctx context.Context, run entries) error {
	for done := 0; done < len(run.rows); {
		results, err := c.applyAlike(run.rows[done:])
		if err != nil {
			c.begun = run.begun(done)
			return err
		}
		done += len(results)
	}
	at := run.ends[len(run.ends)-1]
	if err := c.note(&at); err != nil {
		c.begun = run.begun(len(run.rows))
		return err
	}
	c.set(at)
	if c.o.Applied != nil {
		for _, a := range run.list {
			c.o.Applied(a)
		}
	}
	return c.settleIfLong(ctx)
}

// begun returns the entries of a run of which the first rows, so many in all, are applied.
func (r *entries) begun(rows int) (list []begun) {
	for i := range r.list {
		results := r.list[i].Results
		n := min(rows, len(results))
		rows -= n
		list = append(list, begun{r.ends[i].Chain, results[:n:n], r.ends[i]})
	}
	return list
}

// applyAlike applies the rows at the beginning of a list that are of the same log, with one write for the
// rows and one for the records, and returns what became of them. It returns an error if none of them was applied.
func (c *Copy) applyAlike(list []ready) ([]Result, error) {
	kind, n, size, length := list[0].row.Kind, 0, 0, 0
	for n < len(list) && list[n].row.Kind == kind {
		size, length = size+len(list[n].row.Content), length+len(list[n].body)
		n++
	}
	rows, data := list[0].row.Content, list[0].body
	if n > 1 {
		rows, data = make([]byte, 0, size), make([]byte, 0, length)
		for i := range list[:n] {
			rows, data = append(rows, list[i].row.Content...), append(data, list[i].body...)
		}
	}
	if err := c.log(kind).Apply(rows, data); err != nil {
		return nil, err
	}
	return recorded(list[:n]), nil
}

// recorded returns what becomes of rows of records that are applied.
func recorded(list []ready) []Result {
	results := make([]Result, len(list))
	for i := range list {
		a := &list[i].arrival
		results[i] = Result{Key: a.Key, End: a.End()}
	}
	return results
}
