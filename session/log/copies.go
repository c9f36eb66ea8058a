package log

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
)

// JournalFile is where a copy keeps how far it follows a journal that is elsewhere, relative to the
// session.
const JournalFile = ctxabi.InternalDir + "/journal"

// Mark is where a log ends: the size of its data and that of its rows, in bytes.
type Mark struct{ Size, Arrivals int64 }

// Mark returns the sizes.
func (t Tail) Mark() Mark { return Mark{t.Size, t.Arrivals} }

// Copies is a [Committer] of a store whose logs are copies of what is ordered elsewhere. Of what such
// a log has behind its mark nothing is adopted when it is opened: it comes again from elsewhere.
type Copies interface {
	Committer

	// Kept returns where the log called name of the session in dir may end at most. It is called while
	// the log is opened for the first time, with locks of the log and Root.Move held for reading, and
	// asks nothing of the store's logs but [Look]. ok is false if the log may end where its last row
	// ends.
	Kept(dir *disk.Dir, name string) (at Mark, ok bool)
}

// limit cuts a copy, and what was found of it, to what is true: it ends at its mark, and data without
// a row does not count. It returns the error of the disk.
func (l *Log) limit(f *logFiles, n *Findings) error {
	at, ok := l.set.copies.Kept(l.dir, l.name)
	if ok && !l.known.Load() && at.Arrivals < n.Tail.Arrivals {
		was := *n
		cut, err := l.examineTo(f, at.Arrivals, at.Size)
		if err != nil {
			return err
		}
		*n = *cut
		if n.Size, n.Arrivals = was.Size, was.Arrivals; was.Size == was.Tail.Size && !l.dir.Root.ReadOnly {
			// Data first: a row without data is dropped the next time.
			if err := errors.Join(f.data.Truncate(n.Tail.Size), f.arrivals.Truncate(n.Tail.Arrivals)); err != nil {
				return err
			}
			n.Size, n.Arrivals = n.Tail.Size, n.Tail.Arrivals
		}
	}
	n.Valid, n.Records, n.bad = n.Tail.Size, 0, 0
	return nil
}

// Look returns where the log called name of the session in dir ends, up to the last row that has its
// data. It changes nothing, and a log without files ends at 0. It returns the error of a read.
func Look(dir *disk.Dir, name string) (Mark, error) {
	l := new(Log)
	l.Init(dir.Unchanged(), new(Set), nil, name)
	rows, _, err := vfs.OpenRegular(dir.Root.FS, dir.Path(ArrivalsFile(name)), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{}, nil
	}
	if err != nil {
		return Mark{}, err
	}
	defer rows.Close()
	n, err := l.ExamineUnchanged(rows)
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{}, nil
	}
	if err != nil {
		return Mark{}, fmt.Errorf("look at %s: %w", name, err)
	}
	return n.Tail.Mark(), nil
}

// Order returns the arrival row, with its newline, of a commit that comes to stand behind t, appended
// to dst, and the tail behind it. Of a, the caller sets Len, SHA, At, UID, PID, Events and Key.
func (t Tail) Order(dst []byte, a Row) (row []byte, next Tail) {
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
	if err := f.arrivals.Sync(); err != nil {
		return l.breakDown("fsync", err)
	}
	return nil
}
