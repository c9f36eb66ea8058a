package log

import (
	"bytes"
	"context"
	"errors"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Batch is what one commit appends: whole records, each with its newline.
type Batch struct {
	Data   []byte
	Writer disk.Writer
	Key    arrival.Key
}

// Append checks the records of b and commits them all or none. It returns ctxabi.ErrMalformed or
// ctxabi.ErrTooLarge for what is not whole records, the context's error where it ended while others
// were appending, and the error of the disk: ctxabi.ErrNoSpace, ctxabi.ErrIO,
// ctxabi.ErrNotFound.
func (l *Log) Append(ctx context.Context, b Batch) (int64, error) {
	if len(b.Data) == 0 || b.Data[len(b.Data)-1] != '\n' {
		return 0, l.refuse(b.Writer, ctxabi.E("append", l.name, ctxabi.ErrMalformed, "a batch must consist of whole records, each with its newline"))
	}
	if _, err := l.checkLines(b.Data); err != nil {
		return 0, l.refuse(b.Writer, err)
	}
	return l.commit(ctx, b, Anywhere)
}

// checkLines checks whole lines and gives how many bytes come before the first that is refused.
func (l *Log) checkLines(data []byte) (n int, err error) {
	for n < len(data) {
		i := bytes.IndexByte(data[n:], '\n')
		if err := l.check(data[n : n+i]); err != nil {
			return n, err
		}
		n += i + 1
	}
	return n, nil
}

// refuse reports err in the writer's name and returns it.
func (l *Log) refuse(w disk.Writer, err error) error {
	l.dir.Report(disk.RowOf("append", l.name, w.UID, err))
	return err
}

// Anywhere as a position means: wherever the log ends.
const Anywhere = -1

// commit waits for the log's turn and commits checked records at position at,
// or Anywhere.
func (l *Log) commit(ctx context.Context, b Batch, at int64) (int64, error) {
	if err := l.Open(); err != nil {
		if errors.Is(err, ctxabi.ErrNoFiles) {
			l.refuse(b.Writer, err)
		}
		return 0, err
	}
	turn := l.turnOf()
	select {
	case turn <- struct{}{}:
	default:
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	l.pending.Store(true)
	defer func() {
		l.pending.Store(false)
		<-turn
	}()
	position, err := l.place(b, at)
	if err != nil && ctx.Err() == nil {
		l.refuse(b.Writer, err)
	}
	return position, err
}

// committed returns where the log ended behind a request that was committed before; ok is false if it
// is not among the last [MaxKeys], or the log cannot be opened.
func (l *Log) committed(k arrival.Key) (position int64, ok bool) {
	if k == (arrival.Key{}) {
		return 0, false
	}
	f, err := l.acquire()
	if err != nil {
		return 0, false
	}
	defer l.release()
	l.mu.Lock()
	defer l.mu.Unlock()
	f.loadKeys()
	return f.keys.find(k)
}
