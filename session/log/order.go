package log

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Tail returns where the log ends. It returns the error of a log that cannot be opened.
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

// place appends a batch at position at, or Anywhere: first its arrival row, then the data. The
// caller holds the turn. A request that was committed before changes nothing. place returns the
// new length, ctxabi.ErrAppendOnly if the log does not end at that position, and the errors of
// Append.
func (l *Log) place(b Batch, at int64) (int64, error) {
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
	if at != Anywhere && at != tail.Size {
		return 0, ctxabi.E("append", l.name, ctxabi.ErrAppendOnly,
			"this write is at %d and the log ends at %d; open it for appending (>>)", at, tail.Size)
	}

	a := l.order(tail, &b)
	f.row = arrival.AppendRow(f.row[:0], &a)
	if err := l.write(f, tail, &a, f.row, b.Data); err != nil {
		return 0, err
	}
	l.advance(a.End())
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

// write writes the line of a row, and then its data, after tail, where the log ends. The turn is
// held. It returns the errors of Append.
func (l *Log) write(f *logFiles, tail Tail, a *arrival.Row, line, data []byte) error {
	if err := vfs.WriteFull(f.arrivals, line); err != nil {
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
	if a.Key != (arrival.Key{}) {
		f.loadKeys() // those before it
		f.keys.add(a.Key, a.End())
	}
	f.tail = tail.behind(a, len(line))
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
