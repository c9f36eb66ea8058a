package log

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Replica is a log whose commits are ordered elsewhere. [Log] implements it. Its methods do not take
// the log's turn: the caller must hold it or be the only committer.
type Replica interface {
	// Tail returns where the log ends. It returns the error of a log that cannot be opened.
	Tail() (Tail, error)

	// Apply appends commits that were ordered elsewhere, one or several: rows are their arrival rows, each with its newline, as
	// [arrival.AppendRow] wrote it, data the records that these announce.
	// Both were checked where they were ordered; Apply checks that they belong together and behind the log's end.
	//
	// It returns ctxabi.ErrMalformed if rows are no rows, or not those of data; ctxabi.ErrConflict if a commit does not stand right
	// behind the end before it, or its chain does not continue what is there; and what a failed append returns. Nothing was taken
	// then, of none of them.
	Apply(rows, data []byte) error
}

var _ Replica = (*Log)(nil)

// Tail returns where the log ends; see [Replica]. It returns the error of a log that cannot be opened.
func (l *Log) Tail() (Tail, error) {
	f, err := l.acquire()
	if err != nil {
		return Tail{}, err
	}
	defer l.release()
	l.mu.Lock()
	defer l.mu.Unlock()
	return f.tail, nil
}

// Apply appends commits that were ordered elsewhere; see [Replica]. Readers see them when Apply
// returns; the log grew when their rows say. It returns ctxabi.ErrMalformed, ctxabi.ErrConflict and the errors of Append.
func (l *Log) Apply(rows, data []byte) error {
	if err := l.reopen("apply"); err != nil {
		return err
	}
	f, err := l.acquire()
	if err != nil {
		return err
	}
	defer l.release()
	if err := l.usable("apply"); err != nil {
		return err
	}
	if l.pending.CompareAndSwap(false, true) { // else the append that is under way is this one
		defer l.pending.Store(false)
	}
	l.mu.Lock()
	tail := f.tail
	l.dirty = true
	l.mu.Unlock()
	var one [1]arrival.Row
	list, next, err := l.follow(one[:0], tail, rows, data)
	if err == nil {
		err = l.apply(f, tail, next, list, rows, data)
	}
	if err != nil {
		return err
	}
	l.Advance(next.Size)
	l.modTime.Store(list[len(list)-1].At)
	return nil
}

// follow appends to list the rows of data, each with its newline, that are to stand behind tail, and returns where
// the log ends then. It returns ctxabi.ErrMalformed and ctxabi.ErrConflict as Apply does.
func (l *Log) follow(list []arrival.Row, tail Tail, rows, data []byte) ([]arrival.Row, Tail, error) {
	for line := range bytes.Lines(rows) {
		a, ok := arrival.ParseRow(bytes.TrimSuffix(line, []byte{'\n'}))
		if !ok || line[len(line)-1] != '\n' || a.Len < 0 || a.Len > int64(len(data)) || a.SHA != sha256.Sum256(data[:a.Len]) {
			return nil, tail, ctxabi.E("apply", l.name, ctxabi.ErrMalformed, "it is no arrival row, or the one at byte %d is for other records", a.Off)
		}
		if a.Chain, ok = a.Follows(tail.Chain); !ok || a.Off != tail.Size {
			return nil, tail, ctxabi.E("apply", l.name, ctxabi.ErrConflict, "the row at byte %d does not continue the log, which ends at %d", a.Off, tail.Size)
		}
		list, tail, data = append(list, a), tail.behind(&a, len(line)), data[a.Len:]
	}
	if len(list) == 0 || len(data) > 0 {
		return nil, tail, ctxabi.E("apply", l.name, ctxabi.ErrMalformed, "%d bytes have no row", len(data))
	}
	return list, tail, nil
}

// Local returns the committer of a store that is alone: it writes the arrival row to the store's
// own files, and then the data.
func Local() Committer { return localCommitter{} }

type localCommitter struct{}

// Commit orders the batch behind the log's end, and applies it.
func (localCommitter) Commit(_ context.Context, l *Log, b Batch, expected int64) (int64, error) {
	if err := l.reopen("append"); err != nil {
		return 0, err
	}
	f, err := l.acquire()
	if err != nil {
		return 0, err
	}
	defer l.release()
	if err := l.usable("append"); err != nil {
		return 0, err
	}
	l.mu.Lock()
	if b.Key != (arrival.Key{}) {
		f.loadKeys()
		if position, ok := f.keys.find(b.Key); ok {
			l.mu.Unlock()
			return position, nil
		}
	}
	tail := f.tail
	l.dirty = true
	l.mu.Unlock()
	if tail.Size != expected {
		return 0, ctxabi.E("append", l.name, ctxabi.ErrConflict, "the log ends at %d, not at %d", tail.Size, expected)
	}
	a := l.order(tail, &b)
	f.row = arrival.AppendRow(f.row[:0], &a)
	if err := l.apply(f, tail, tail.behind(&a, len(f.row)), []arrival.Row{a}, f.row, b.Data); err != nil {
		return 0, err
	}
	return a.End(), nil
}

// order returns the row of a batch that comes to stand behind tail.
func (l *Log) order(tail Tail, b *Batch) arrival.Row {
	a := arrival.Row{Off: tail.Size, Len: int64(len(b.Data)), SHA: sha256.Sum256(b.Data), At: l.dir.Root.Now().UnixNano(),
		UID: b.Writer.UID, PID: b.Writer.PID, Events: -1, Key: b.Key}
	tail.extend(&a)
	if l.events != nil {
		a.Events = l.eventsNow(tail)
	}
	return a
}

// eventsNow is the committed length of events.jsonl; what the last row says of it where it cannot
// be opened.
func (l *Log) eventsNow(tail Tail) int64 {
	if e := l.events; e.known.Load() {
		return e.length.Load()
	}
	return max(tail.Events, 0)
}

// apply writes the lines of rows, and then their data, behind tail, where the log ends; it ends at next then.
// The turn is held. It returns the errors of Append.
func (l *Log) apply(f *logFiles, tail, next Tail, rows []arrival.Row, lines, data []byte) error {
	if err := vfs.WriteFull(f.arrivals, lines); err != nil {
		return l.rollBack(f, tail, err)
	}
	if err := vfs.WriteFull(f.data, data); err != nil {
		return l.rollBack(f, tail, err)
	}
	if l.pace.committed() {
		f.data.StartSync()
	}
	if err := l.kept(f, "append"); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range rows {
		if a := &rows[i]; a.Key != (arrival.Key{}) {
			f.loadKeys() // those before it
			f.keys.add(a.Key, a.End())
		}
	}
	f.tail = next
	return nil
}

// rollBack cuts both files back to tail after a failed write. Data first: a
// row without data is dropped at open, data without a row would be kept. When
// even that fails the log takes nothing more.
func (l *Log) rollBack(f *logFiles, tail Tail, cause error) error {
	err := f.data.Truncate(tail.Size)
	if err == nil {
		err = f.arrivals.Truncate(tail.Arrivals)
	}
	if err != nil {
		if !vfs.IsFull(err) && vfs.IsFull(cause) {
			err = fmt.Errorf("%w, after: %v", err, cause) // report the disk failure first
		} else {
			err = errors.Join(cause, err)
		}
		return l.breakDown("append", err)
	}
	return vfs.Failed("append", l.name, cause, "this write was not stored; try it again")
}

// RowsBehind returns the arrival rows of the commits behind the byte from of the log, as their file
// has them: as many as end within most bytes, and one at least. end is where the last of them ends; it
// is from if nothing was committed behind that. RowsBehind returns ctxabi.ErrMalformed if no commit
// begins at from, ctxabi.ErrIO if a row is damaged or does not follow the one before it, and the error
// of a log that cannot be opened or read.
func (l *Log) RowsBehind(from, most int64) (rows []byte, end int64, err error) {
	f, err := l.acquire()
	if err != nil {
		return nil, 0, err
	}
	defer l.release()
	l.mu.Lock()
	tail := f.tail
	l.mu.Unlock()
	if from == tail.Size {
		return nil, from, nil
	}
	begin, err := seekArrival(f.arrivals, tail.Arrivals, from)
	if err != nil {
		return nil, 0, err
	}
	end = from
	var failed error
	bad := false // a row in front of the one that is looked at is damaged
	err = vfs.ScanLines(f.arrivals, begin, tail.Arrivals, func(_, _ int64, line []byte, whole bool) bool {
		a, ok := arrival.ParseRow(line)
		switch {
		case len(rows) == 0 && (!ok || a.End() <= from):
			bad = !ok
			return true
		case len(rows) == 0 && a.Off != from && !bad:
			failed = ctxabi.E("read", l.name, ctxabi.ErrMalformed, "no commit begins at byte %d", from)
		case !ok || !whole || a.Off != end:
			failed = ctxabi.E("read", l.name, ctxabi.ErrIO, "the arrival row at byte %d is damaged (see ctxfs verify)", end)
		case len(rows) > 0 && a.End()-from > most:
		default:
			rows, end = append(append(rows, line...), '\n'), a.End()
			return true
		}
		return false
	})
	if err = errors.Join(err, failed); err == nil && end == from {
		err = ctxabi.E("read", l.name, ctxabi.ErrMalformed, "no commit begins at byte %d", from)
	}
	if err != nil {
		return nil, 0, err
	}
	return rows, end, nil
}

// Order returns the arrival row, with its newline, of a commit that comes to stand behind t, appended
// to dst, and the tail behind it. Of a, the caller sets Len, SHA, At, UID, PID, Events and Key.
func (t Tail) Order(dst []byte, a arrival.Row) (row []byte, next Tail) {
	a.Off = t.Size
	t.extend(&a)
	row = arrival.AppendRow(dst, &a)
	return row, t.behind(&a, len(row)-len(dst))
}

// SyncRows makes all that is committed, and the rows of it, survive the loss of power: of a copy, rows
// cannot be made up again. It returns the errors of [Log.Sync].
func (l *Log) SyncRows(ctx context.Context) error {
	if err := l.Sync(ctx); err != nil {
		return err
	}
	f, err := l.acquire()
	if err != nil {
		return err
	}
	defer l.release()
	if err := l.syncRows(f); err != nil && !l.IsBroken() {
		return l.breakDown("fsync", err)
	} else if err != nil {
		return err
	}
	return nil
}
