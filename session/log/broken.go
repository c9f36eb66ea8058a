package log

import (
	"errors"

	"github.com/ctxfs/ctxfs/ctxabi"
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

// IsBroken reports whether the log's disk failed, so that nothing more is taken.
func (l *Log) IsBroken() bool { return l.broken.Load() }

// breakDown remembers that the log's disk cannot be trusted any more.
func (l *Log) breakDown(op string, cause error) error {
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
