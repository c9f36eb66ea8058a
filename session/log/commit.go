package log

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Key identifies one request, so that a request sent twice is committed once.
// The zero Key identifies none.
type Key struct{ Conn, Unique uint64 }

// Batch is what one commit appends: whole records, each with its newline.
type Batch struct {
	Data   []byte
	Writer disk.Writer
	Key    Key
}

// Committer is the one commit point. Commit makes batch durable against the
// death of the process at position expected of log and returns the log's new
// length. It may block. It reports ctxabi.ErrConflict when the log is not at
// expected, and returns the position without error when key was committed
// before. It must not keep batch.Data. The local one writes the arrival row, then the data.
type Committer interface {
	Commit(ctx context.Context, log *Log, batch Batch, expected int64) (position int64, err error)
}

// Append checks the records of b and commits them all or none.
func (l *Log) Append(ctx context.Context, b Batch) (int64, error) {
	if len(b.Data) == 0 || b.Data[len(b.Data)-1] != '\n' {
		return 0, l.refuse(b.Writer, ctxabi.E("append", l.name, ctxabi.ErrMalformed, "a batch is whole records, each with its newline"))
	}
	if _, err := l.checkLines(b.Data); err != nil {
		return 0, l.refuse(b.Writer, err)
	}
	return l.commit(ctx, b, anywhere)
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
	l.session.Report(disk.RowOf("append", l.name, w.UID, err))
	return err
}

// anywhere as a position means: wherever the log ends.
const anywhere = -1

// commit waits for the log's turn and commits checked records at position at,
// or anywhere.
func (l *Log) commit(ctx context.Context, b Batch, at int64) (int64, error) {
	if err := l.Open(); err != nil {
		if errors.Is(err, ctxabi.ErrNoFiles) {
			l.refuse(b.Writer, err)
		}
		return 0, err
	}
	select {
	case l.turn <- struct{}{}:
	default:
		select {
		case l.turn <- struct{}{}:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	l.pending.Store(true)
	defer func() {
		l.pending.Store(false)
		<-l.turn
	}()
	for {
		expected := l.length.Load()
		if at != anywhere && at != expected {
			if position, ok := l.committed(b.Key); ok {
				return position, nil
			}
			return 0, l.refuse(b.Writer, ctxabi.E("append", l.name, ctxabi.ErrAppendOnly,
				"this write is at %d and the log ends at %d; open it for appending (>>)", at, expected))
		}
		position, err := l.set.committer.Commit(ctx, l, b, expected)
		if errors.Is(err, ctxabi.ErrConflict) && l.length.Load() != expected && ctx.Err() == nil {
			continue // somebody else committed and told us through Advance
		}
		if err != nil {
			if ctx.Err() == nil {
				l.refuse(b.Writer, err)
			}
			return 0, err
		}
		l.Advance(position)
		return position, nil
	}
}

// Hold waits for the log's turn: nothing is appended until release is called.
func (l *Log) Hold() (release func()) {
	l.turn <- struct{}{}
	return func() { <-l.turn }
}

// committed gives the position of a request that was committed before.
func (l *Log) committed(k Key) (int64, bool) {
	if k == (Key{}) {
		return 0, false
	}
	if _, err := l.acquire(); err != nil {
		return 0, false
	}
	defer l.release()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loadKeys()
	position, ok := l.keys.find(k)
	return position, ok
}

// Local is the committer of a store that is alone: it writes to the store's own files.
func Local() Committer { return localCommitter{} }

type localCommitter struct{}

// Commit is called with the log's turn held, and by nothing else.
func (localCommitter) Commit(_ context.Context, l *Log, b Batch, expected int64) (int64, error) {
	f, err := l.acquire()
	if err != nil {
		return 0, err
	}
	defer l.release()
	if err := l.usable("append"); err != nil {
		return 0, err
	}
	l.mu.Lock()
	if b.Key != (Key{}) {
		l.loadKeys()
		if position, ok := l.keys.find(b.Key); ok {
			l.mu.Unlock()
			return position, nil
		}
	}
	tail := l.tail
	l.dirty = true
	l.mu.Unlock()
	if tail.Size != expected {
		return 0, ctxabi.E("append", l.name, ctxabi.ErrConflict, "the log ends at %d, not at %d", tail.Size, expected)
	}

	a := Row{Off: expected, Len: int64(len(b.Data)), SHA: sha256.Sum256(b.Data), At: l.session.Root.Now().UnixNano(),
		UID: b.Writer.UID, PID: b.Writer.PID, Events: -1, Key: b.Key}
	a.Chain = ChainNext(tail.chain, a.SHA, a.Off, a.Len)
	if l.events != nil {
		a.Events = l.eventsNow(tail)
	}
	l.row = a.AppendTo(l.row[:0])
	if err := vfs.WriteFull(f.arrivals, l.row); err != nil {
		return 0, l.rollBack(f, tail, err)
	}
	if err := vfs.WriteFull(f.data, b.Data); err != nil {
		return 0, l.rollBack(f, tail, err)
	}
	if err := l.kept(f, "append"); err != nil {
		return 0, err
	}

	l.mu.Lock()
	l.tail = Tail{Size: a.End(), Arrivals: tail.Arrivals + int64(len(l.row)), chain: a.Chain, events: a.Events}
	if b.Key != (Key{}) {
		l.keys.add(b.Key, a.End())
	}
	l.mu.Unlock()
	return a.End(), nil
}

// eventsNow is the committed length of events.jsonl; what the last row says of it where it cannot be opened.
func (l *Log) eventsNow(tail Tail) int64 {
	if e := l.events; e.known.Load() {
		return e.length.Load()
	}
	return max(tail.events, 0)
}

// rollBack cuts both files back to tail after a failed write. Data first: a
// row without data is dropped at open, data without a row would be kept. When
// even that fails the log takes nothing more.
func (l *Log) rollBack(f *logFiles, tail Tail, cause error) error {
	if err := f.data.Truncate(tail.Size); err != nil {
		return l.breakDown("append", errors.Join(cause, err))
	}
	if err := f.arrivals.Truncate(tail.Arrivals); err != nil {
		return l.breakDown("append", errors.Join(cause, err))
	}
	return vfs.Failed("append", l.name, cause, "nothing of this write was taken; it can be tried again")
}

// MaxKeys is how many requests are remembered for each log.
const MaxKeys = 1024

// keyRing remembers where the last requests ended.
type keyRing struct {
	at   map[Key]int64
	ring []Key
	next int
}

func newKeyRing() *keyRing { return &keyRing{at: map[Key]int64{}} }

func (r *keyRing) find(k Key) (int64, bool) {
	position, ok := r.at[k]
	return position, ok
}

func (r *keyRing) add(k Key, position int64) {
	if len(r.ring) < MaxKeys {
		r.ring = append(r.ring, k)
	} else {
		delete(r.at, r.ring[r.next])
		r.ring[r.next] = k
		r.next = (r.next + 1) % MaxKeys
	}
	r.at[k] = position
}

// loadKeys reads the keys of the last rows, the first time one is asked for;
// mu is held and the log is open. Rows that cannot be read remember nothing.
func (l *Log) loadKeys() {
	if l.keys != nil {
		return
	}
	l.keys = newKeyRing()
	type known struct {
		key      Key
		position int64
	}
	var rows []known
	seen := 0
	vfs.ScanLinesBackward(l.files.arrivals, l.tail.Arrivals, func(_ int64, line []byte) bool {
		if a, ok := ParseRow(line); ok && a.Key != (Key{}) {
			rows = append(rows, known{a.Key, a.End()})
		}
		seen++
		return seen < MaxKeys
	})
	for i := len(rows) - 1; i >= 0; i-- {
		l.keys.add(rows[i].key, rows[i].position)
	}
}
