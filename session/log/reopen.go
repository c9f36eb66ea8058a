package log

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

var errLost = errors.New("records that were acknowledged are not on the disk any more")

// regain is reopen for callers without the turn. While others hold the turn it returns an error: they reopen the log.
func (l *Log) regain(op string) error {
	if !l.full.Load() {
		return nil
	}
	turn := l.turnOf()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
		return l.reopen(op)
	default:
		return errNoRoom(l, op)
	}
}

// errNoRoom is the error of a log that is full and was not reopened yet.
func errNoRoom(l *Log, op string) error {
	return ctxabi.E(op, l.name, ctxabi.ErrNoSpace, "the disk of the store had no room for it; make room and try it again")
}

// reopen opens a log again that is full, and makes it take records if there is room now. The caller holds the turn. It
// returns ctxabi.ErrNoSpace or ctxabi.ErrQuota if there is still no room, and ctxabi.ErrIO, for good, if
// records that were acknowledged cannot be read any more.
func (l *Log) reopen(op string) error {
	if !l.full.Load() {
		return nil
	}
	if err := l.usable(op); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.files
	if l.dir.Removed() || old == nil {
		return nil // acquire says why, or opens it
	}
	if old.torn {
		l.full.Store(false)
		l.retire()
		err := l.openFiles()
		if err == nil {
			l.set.add(l)
			if !l.full.Load() {
				return nil
			}
			err = ctxabi.E(op, l.name, ctxabi.ErrNoSpace, "the disk of the store has no room to repair the end of the log; make room and try it again")
		}
		l.full.Store(true)
		return err
	}
	f, err := l.readAgain(old)
	if err != nil {
		if !vfs.IsFull(err) && !errors.Is(err, ctxabi.ErrNoFiles) {
			return l.breakDown(op, err)
		}
		return vfs.Failed(op, l.name, err, "the disk of the store has no room for it; make room and try it again")
	}
	l.retire()
	l.files = f
	l.set.add(l)
	l.synced = f.tail.Mark()
	l.full.Store(false)
	l.dir.Root.Logger.Info("the log takes records again", "session", l.dir.ID(), "log", l.name)
	return nil
}

// readAgain opens the files of the log that old has open, cuts them to the end of the last acknowledged record, and syncs them. It
// returns errLost if they do not hold all acknowledged records. mu is held.
func (l *Log) readAgain(old *logFiles) (_ *logFiles, err error) {
	x := l.dir
	x.Root.Move.RLock()
	defer x.Root.Move.RUnlock()
	f := &logFiles{tail: old.tail}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	for _, name := range []string{l.name, ArrivalsFile(l.name)} { // openFile would make one that is not there
		if _, err := x.Root.FS.Stat(x.Path(name)); errors.Is(err, fs.ErrNotExist) {
			return nil, errRemoved
		}
	}
	if f.arrivals, _, err = vfs.OpenRegular(x.Root.FS, x.Path(ArrivalsFile(l.name)), os.O_RDWR|os.O_APPEND); err != nil {
		return nil, err
	}
	f.nameless = vfs.NamelessFunc(f.arrivals)
	if f.data, err = l.openData(f.arrivals); err != nil {
		return nil, err
	}
	if err := l.acknowledged(f); err != nil {
		return nil, err
	}
	// A write that failed may have left bytes behind the end. Data first, as in rollBack.
	for _, cut := range []struct {
		file vfs.File
		end  int64
	}{{f.data, f.tail.Size}, {f.arrivals, f.tail.Arrivals}} {
		fi, err := cut.file.Stat()
		if err == nil && fi.Size() > cut.end {
			err = cut.file.Truncate(cut.end)
		}
		if err != nil {
			return nil, err
		}
	}
	steps := []func() error{
		func() error { return f.data.Rewrite(l.synced.Size, f.tail.Size) },
		func() error { return vfs.Rewrite(f.arrivals, l.synced.Arrivals, f.tail.Arrivals) },
		f.data.Sync, f.arrivals.Sync,
		func() error { return x.Root.FS.SyncDir(x.Dir()) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// acknowledged returns errLost unless f has its tail, and its arrival rows that no Sync covers belong to the data.
func (l *Log) acknowledged(f *logFiles) error {
	tail := f.tail
	for _, has := range []struct {
		file vfs.File
		end  int64
	}{{f.data, tail.Size}, {f.arrivals, tail.Arrivals}} {
		fi, err := has.file.Stat()
		if err != nil {
			return err
		}
		if fi.Size() < has.end {
			return errLost
		}
	}
	chain, err := l.chainAt(f, tail.Arrivals)
	if err != nil {
		return err
	}
	if chain.Value != tail.Chain {
		return errLost
	}
	sealed := f.data.Sealed()
	var failed error
	err = vfs.ScanLinesBackward(f.arrivals, tail.Arrivals, func(_ int64, line []byte) bool {
		a, ok := arrival.ParseRow(line)
		if !ok {
			return true // as the log was opened with it
		}
		if a.End() <= l.synced.Size || a.Off < sealed {
			return false
		}
		same, err := l.matches(f, &a)
		if !same || err != nil {
			failed = errors.Join(err, errLost)
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}
