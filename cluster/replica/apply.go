package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// Apply applies what the engine has behind the copy's position. What Append did not store takes its
// place and changes nothing. Apply returns the errors of journal.Open if it is not the next entry, and
// the error of an object or of the disk; it is to be called with the same entry again then.
func (c *Copy) Apply(ctx context.Context, from engine.Entry) error {
	if from.ID == "" {
		at := c.at
		at.Seq = from.Seq
		c.set(at)
		return nil
	}
	e, next, err := journal.Open(c.at.Position, from)
	if err != nil {
		return err
	}
	if e.Format > ctxabi.FormatVersion {
		return fmt.Errorf("entry at sequence %d: %w: rows of format %d", from.Seq, journal.ErrVersion, e.Format)
	}
	if c.at.Ended {
		return c.applyBehind(ctx, from, &e, next)
	}
	if len(c.begun) == 0 || c.begun[0].chain != next.Chain {
		c.begun = append(c.begun[:0], begun{chain: next.Chain})
	}
	now := &c.begun[0]
	ends, err := c.ends()
	if err != nil {
		return err
	}
	rows, err := c.prepare(ctx, e.Rows[len(now.results):], &ends)
	if err != nil {
		return fmt.Errorf("entry at sequence %d: %w", from.Seq, err)
	}
	for rest := rows; len(rest) > 0; {
		results, err := c.applySome(ctx, rest, &e)
		if err != nil {
			return err
		}
		now.results, rest = append(now.results, results...), rest[len(results):]
	}
	at := now.at
	if at.I == 0 || len(rows) > 0 {
		at = Position{Position: next, Seq: from.Seq, Host: e.Host, Ended: slices.ContainsFunc(e.Rows, isEnd)}
		if err := c.mark(&at); err != nil {
			return err
		}
	}
	if err := c.note(&at); err != nil {
		return err
	}
	results := now.results
	c.begun = slices.Delete(c.begun, 0, 1)
	c.set(at)
	if c.o.Applied != nil {
		c.o.Applied(Applied{Seq: from.Seq, ID: from.ID, Entry: e, Results: results})
	}
	return c.settleIfLong(ctx)
}

// note writes a position that was reached. It returns the error of the disk.
func (c *Copy) note(at *Position) error {
	if err := c.sets.save(c.x.Disk()); err != nil {
		return err
	}
	if err := c.file.add(at); err != nil {
		return fmt.Errorf("%s: %w", log.JournalFile, err)
	}
	return nil
}

// settleIfLong writes the file of positions anew once it is long. It returns the errors of Settle.
func (c *Copy) settleIfLong(ctx context.Context) error {
	if c.file.size > maxPositions {
		return c.Settle(ctx)
	}
	return nil
}

func isEnd(r journal.Row) bool { return r.Kind == journal.End }

// mark sets where the logs end.
func (c *Copy) mark(at *Position) error {
	ends, err := c.ends()
	if err != nil {
		return err
	}
	at.Messages, at.Events = ends.messages.Mark(), ends.events.Mark()
	return nil
}

// ErrEnded is the error of a row behind the end of a journal.
var ErrEnded = errors.New("the journal of the session has ended")

// applyBehind applies an entry behind the end of the journal. One that names a snapshot begins the session anew;
// all else counts for nothing, on every host. It returns journal.ErrVersion, and the errors of Options.Resume.
func (c *Copy) applyBehind(ctx context.Context, from engine.Entry, e *journal.Entry, next journal.Position) error {
	at := c.at
	at.Position, at.Seq, at.Host = next, from.Seq, e.Host
	results := make([]Result, len(e.Rows))
	for i := range e.Rows {
		r := &e.Rows[i]
		results[i] = Result{Key: KeyOf(r), Err: ErrEnded}
		if a, ok := arrival.ParseRow(bytes.TrimSuffix(r.Content, []byte{'\n'})); ok && (r.Kind == journal.Message || r.Kind == journal.Event) {
			results[i].Key = a.Key
		}
		if r.Kind != journal.Snapshot || !at.Ended {
			continue
		}
		if c.o.Resume == nil {
			return fmt.Errorf("%w: a session that begins anew", journal.ErrVersion)
		}
		at.Ended, results[i].Err = false, nil
		err := c.o.Resume(ctx, c.x, c.subject, r.Content, func(ends [2]log.Mark) []byte {
			at.Messages, at.Events = ends[0], ends[1]
			return at.row()
		})
		if err != nil {
			return fmt.Errorf("entry at sequence %d: %w", from.Seq, err)
		}
		if err := c.sets.load(c.x.Disk()); err != nil {
			return err
		}
	}
	if err := c.mark(&at); err != nil {
		return err
	}
	c.set(at)
	if c.o.Applied != nil {
		c.o.Applied(Applied{Seq: from.Seq, ID: from.ID, Entry: *e, Results: results})
	}
	return c.Settle(ctx)
}

// ready is a row that can be applied.
type ready struct {
	c       *Copy
	row     *journal.Row
	body    []byte
	arrival arrival.Row // of records
	change  Change      // of changes
}

// ends are where the logs of a session will end.
type ends struct{ messages, events log.Tail }

// ends returns where the logs end. It returns the error of a log that cannot be opened.
func (c *Copy) ends() (e ends, err error) {
	if e.messages, err = c.x.Messages().Tail(); err == nil {
		e.events, err = c.x.Events().Tail()
	}
	return e, err
}

// of returns where the log of rows of a kind will end.
func (e *ends) of(k journal.Kind) *log.Tail {
	if k == journal.Message {
		return &e.messages
	}
	return &e.events
}

// prepare reads rows, fetches their bodies, and checks that those of logs fit behind ends, which it moves. It returns
// journal.ErrDamaged, journal.ErrVersion and the errors of objects; nothing was applied then.
func (c *Copy) prepare(ctx context.Context, rows []journal.Row, at *ends) ([]ready, error) {
	list := make([]ready, 0, len(rows))
	for i := range rows {
		r := ready{c: c, row: &rows[i], body: rows[i].Body}
		var err error
		switch k := r.row.Kind; k {
		case journal.Message, journal.Event:
			err = r.records(ctx, at.of(k))
		case journal.Control, journal.Child:
			err = r.changes(ctx)
		default:
			if k != journal.End && c.o.Handlers[k] == nil {
				err = fmt.Errorf("%w: a row of kind %q", journal.ErrVersion, k)
			}
		}
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// log returns the log of rows of a kind.
func (c *Copy) log(k journal.Kind) *log.Log {
	if k == journal.Message {
		return c.x.Messages()
	}
	return c.x.Events()
}

// records prepares a row of a log that has to stand at its end, which it moves.
func (r *ready) records(ctx context.Context, end *log.Tail) (err error) {
	line, whole := bytes.CutSuffix(r.row.Content, []byte{'\n'})
	a, ok := arrival.ParseRow(line)
	if !ok || !whole || a.Off != end.Size {
		return fmt.Errorf("%w: a row of records at byte %d, and the log ends at %d", journal.ErrDamaged, a.Off, end.Size)
	}
	if end.Chain, ok = a.Follows(end.Chain); !ok {
		return fmt.Errorf("%w: the chain of records breaks at byte %d", journal.ErrDamaged, a.Off)
	}
	end.Size, end.Arrivals, r.arrival = a.End(), end.Arrivals+int64(len(r.row.Content)), a
	if len(r.body) == 0 {
		r.body, err = r.c.body(ctx, a.SHA)
	}
	return err
}

// changes prepares a change.
func (r *ready) changes(ctx context.Context) (err error) {
	var sum []byte
	if r.change, sum, err = ParseChange(r.row); err == nil && sum != nil {
		r.body, err = r.c.body(ctx, [32]byte(sum))
	}
	r.change.SetBody(r.body)
	return err
}

// applySome applies the rows at the beginning of a list, those of one log together and others one by one. It
// returns an error if none was applied, and is to be called with the same list again then.
func (c *Copy) applySome(ctx context.Context, list []ready, e *journal.Entry) ([]Result, error) {
	r := &list[0]
	switch k := r.row.Kind; k {
	case journal.Message, journal.Event:
		return c.applyAlike(list)
	case journal.Control, journal.Child:
		result, err := r.applyChange(ctx, e.I)
		return []Result{result}, err
	case journal.End:
		return []Result{{Key: KeyOf(r.row)}}, nil
	default:
		err := c.o.Handlers[k](ctx, c.x, e, r.row)
		if errors.Is(err, ctxabi.ErrConflict) || errors.Is(err, ctxabi.ErrMalformed) {
			return []Result{{Key: KeyOf(r.row), Err: err}}, nil
		}
		return []Result{{Key: KeyOf(r.row)}}, err
	}
}

// applyChange applies the row of a change, which stands in entry i. It returns an error if it is to be
// applied again.
func (r *ready) applyChange(ctx context.Context, i uint64) (Result, error) {
	c, change := r.c, &r.change
	if change.Alone() {
		// Of two renames in a row the first would find something else when it is done again.
		if err := c.Settle(ctx); err != nil {
			return Result{}, err
		}
	}
	if err := change.check(); err != nil {
		return Result{Key: change.Key, Err: err}, nil
	}
	if last, ok := c.LastSet(change.Name); ok && last.Entry > i && kindOf(change.Kind) == journal.Control {
		return Result{Key: change.Key}, nil // the file is as a later entry has set it: this one was applied before
	}
	err := c.sets.all.Stale(change, i)
	if err == nil {
		err = c.x.Apply(change.Change)
	}
	if err != nil && !refused(err) {
		return Result{}, err
	}
	over, failed := c.noteSet(change, i, err)
	if failed == nil {
		failed = c.syncNames(change)
	}
	return Result{Key: change.Key, Err: err, Over: over}, failed
}

// syncNames makes what a change removed or called another name survive the loss of power, also where it
// was applied before and then failed: nobody does it again once the entry counts. It returns the error
// of the disk.
func (c *Copy) syncNames(change *Change) error {
	var names []string
	switch change.Kind {
	case session.SetNote, session.SetSummary:
		names = []string{change.Name, ctxabi.OwnNote(change.Name)}
	case session.RemoveFile, session.DropFile:
		names = []string{change.Name}
	case session.MakeChild, session.RemoveChild, session.RenameChild:
		names = []string{ctxabi.ChildPath(change.Name)}
	}
	dir := c.x.Disk()
	dir.Root.Move.RLock()
	defer dir.Root.Move.RUnlock()
	for _, name := range names {
		if err := dir.Root.FS.SyncDir(path.Dir(dir.Path(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// refused reports whether a change cannot be applied to what the session is, on any host.
func refused(err error) bool {
	for _, kind := range []error{ctxabi.ErrExists, ctxabi.ErrNotFound, ctxabi.ErrMalformed, ctxabi.ErrConflict, ctxabi.ErrStale, fs.ErrExist, fs.ErrNotExist} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
