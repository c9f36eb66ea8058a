package log

import (
	"errors"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// kept breaks the log down when one of its files has no name any more: somebody removed it from the
// store's disk, and what is written to it ends with the daemon.
func (l *Log) kept(f *logFiles, op string) error {
	if (f.data.Nameless() || f.nameless()) && !l.dir.Removed() && l.current(f) {
		return l.breakDown(op, errRemoved)
	}
	return nil
}

// current reports whether f was not replaced, see [Renew].
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

// IsBroken reports whether the log's disk failed or had no room, so that nothing is taken now.
func (l *Log) IsBroken() bool { return l.broken.Load() || l.full.Load() }

// breakDown remembers that the log's disk cannot be trusted any more. If cause is a disk without room, the log is reopened
// before its next append or sync; see reopen.
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

// Renew calls swap, which replaces the files of logs of one session by others that begin with what the
// logs hold, and then opens the logs anew when they are used. Until swap returns nobody opens them; who
// reads meanwhile, or has a view, goes on with the files that are open. logs are messages and events, in
// this order, and the caller holds their turns. Renew returns the error of swap, of which nobody knows
// what it did: the logs take nothing more then until the store is opened again.
func Renew(swap func() error, logs ...*Log) error {
	var indexes []*logIndex
	for _, l := range logs {
		x := l.index()
		x.mu.Lock()
		defer x.mu.Unlock()
		indexes = append(indexes, x)
	}
	for _, l := range logs {
		l.mu.Lock()
		defer l.mu.Unlock()
	}
	if err := swap(); err != nil {
		for _, l := range logs {
			l.broken.Store(true)
		}
		return err
	}
	for i, l := range logs {
		indexes[i].dropLocked()
		l.retire()
		if l.few != nil {
			l.few.marks.forget()
		}
		l.known.Store(false)
		l.full.Store(false)
	}
	return nil
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
		files.close() // all that was written to them was synced, or is there again
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
