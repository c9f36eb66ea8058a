package log

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// kept breaks the log down when one of its files has no name any more: somebody removed it from the
// store's disk, and what is written to it ends with the daemon.
func (l *Log) kept(f *logFiles, op string) error {
	if (f.data.Nameless() || f.nameless()) && !l.dir.Removed() && l.current(f) {
		return l.breakDown(op, errRemoved)
	}
	return nil
}

// current reports whether f was not replaced, see reopen.
func (l *Log) current(f *logFiles) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files == f
}

// usable returns nil if the log may still be written.
func (l *Log) usable(op string) error {
	if err := l.dir.Root.Writable(op); err != nil {
		return err
	}
	if l.broken.Load() {
		return ctxabi.E(op, l.name, ctxabi.ErrIO,
			"the disk failed earlier; the log takes no records until ctxfs is restarted")
	}
	return nil
}

// IsBroken reports whether the log refuses appends because its disk failed or is full.
func (l *Log) IsBroken() bool { return l.broken.Load() || l.full.Load() }

// breakDown marks the log as broken and returns the error to report. If cause is a full disk, it
// marks the log as full instead, and the next append or sync reopens it; see reopen.
func (l *Log) breakDown(op string, cause error) error {
	if vfs.IsFull(cause) {
		l.full.Store(true)
		err := vfs.Failed(op, l.name, cause, "the disk of the store has no room for it; make room and try it again")
		l.dir.Root.Logger.Error("no room for log", "session", l.dir.ID(), "log", l.name, "err", cause)
		l.dir.ReportError(op, l.name, err)
		return err
	}
	l.broken.Store(true)
	err := &ctxabi.Error{Op: op, Path: l.name, Kind: ctxabi.ErrIO, Err: cause,
		Why: "the disk failed; the log takes no records until ctxfs is restarted"}
	if errors.Is(cause, errRemoved) {
		err.Why = "the log was removed from the store, not through the mount; copy it from the mount now: it is lost when the daemon ends"
	}
	l.dir.Root.Logger.Error("log failed", "session", l.dir.ID(), "log", l.name, "err", cause)
	l.dir.ReportError(op, l.name, err)
	return err
}

// syncData syncs the data of f.
func (l *Log) syncData(f *logFiles) error {
	mark := l.extentOf(f)
	if err := f.data.Sync(); err != nil {
		return l.breakDown("fsync", err)
	}
	return l.covered(f, extent{size: mark.size})
}

// syncRows syncs the arrival rows of f. If the disk is full, it marks the log as full. The caller
// handles other disk errors.
func (l *Log) syncRows(f *logFiles) error {
	mark := l.extentOf(f)
	if err := f.arrivals.Sync(); err != nil {
		if vfs.IsFull(err) {
			err = l.breakDown("fsync", err)
		}
		return err
	}
	return l.covered(f, extent{arrivals: mark.arrivals})
}

func (l *Log) extentOf(f *logFiles) extent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return f.tail.extent()
}

// covered records that a Sync of f covers the data up to m. It returns an error if another Sync of
// the same file failed in the meantime, because the kernel reports such a failure only once.
func (l *Log) covered(f *logFiles, m extent) error {
	if l.full.Load() {
		return errNoRoom(l, "fsync")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == f {
		l.synced.size, l.synced.arrivals = max(l.synced.size, m.size), max(l.synced.arrivals, m.arrivals)
	}
	return nil
}

var errLost = errors.New("records that were acknowledged are not on the disk any more")

// regain is reopen for callers without the turn. If another caller holds the turn, regain returns
// an error, because that caller reopens the log.
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

// errNoRoom returns the error of a full log that was not reopened yet.
func errNoRoom(l *Log, op string) error {
	return ctxabi.E(op, l.name, ctxabi.ErrNoSpace,
		"the disk of the store had no room for it; make room and try it again")
}

// reopen reopens a full log, which accepts records again if the disk has space. The caller must
// hold the turn. reopen returns ctxabi.ErrNoSpace or ctxabi.ErrQuota if the disk is still full. If
// acknowledged records are no longer readable, it returns ctxabi.ErrIO, and so do all later calls.
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
		return nil // acquire returns the error or opens the log
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
			err = ctxabi.E(op, l.name, ctxabi.ErrNoSpace,
				"the disk of the store has no room to repair the end of the log; make room and try it again")
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
	l.synced = f.tail.extent()
	l.full.Store(false)
	l.dir.Root.Logger.Info("the log takes records again", "session", l.dir.ID(), "log", l.name)
	return nil
}

// readAgain opens the files of old a second time, truncates them after the last acknowledged
// record, and syncs them. It returns errLost if an acknowledged record is missing. The caller must
// hold mu.
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
	for _, name := range []string{l.name, ArrivalsFile(l.name)} { // openFile would create a missing file
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
	// A failed write may have left bytes after the end. Truncate data first, as in rollBack.
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
		func() error { return f.data.Rewrite(l.synced.size, f.tail.Size) },
		func() error { return vfs.Rewrite(f.arrivals, l.synced.arrivals, f.tail.Arrivals) },
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

// acknowledged returns errLost unless f contains its tail and the data matches the unsynced arrival
// rows.
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
		if a.End() <= l.synced.size || a.Off < sealed {
			return false
		}
		sum, err := vfs.HashRange(f.data, a.Off, a.End())
		if sum != a.SHA || err != nil {
			failed = errors.Join(err, errLost)
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}

// retire has the open files closed once nobody reads them any more. mu is held.
func (l *Log) retire() {
	if l.files == nil {
		return
	}
	few := l.asOneOfFew()
	few.retired = append(few.retired, l.files)
	l.files = nil
	l.set.forget(l)
	if l.users == 0 {
		few.closeRetired()
	}
}

// closeRetired closes files that were replaced. mu is held.
func (f *fewLogs) closeRetired() {
	for _, files := range f.retired {
		files.close() // all that was written to them is in the new files
	}
	f.retired = nil
}

// fewLogs is what a few logs need. A store may have very many logs, each of which was looked at once.
type fewLogs struct {
	told    string        // why it could not be opened the last time; guarded by Log.mu
	sealing chan struct{} // as turn, of those who seal a part
	marks   arrivalMarks
	retired []*logFiles // were replaced, and are still read; guarded by Log.mu
}

// asOneOfFew returns what only a few logs have. mu is held.
func (l *Log) asOneOfFew() *fewLogs {
	if l.few == nil {
		l.few = &fewLogs{sealing: make(chan struct{}, 1)}
	}
	return l.few
}
