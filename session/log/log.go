package log

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Log is messages.jsonl or events.jsonl of one session. It is safe for concurrent use.
type Log struct {
	dir    *disk.Dir
	set    *Set
	events *Log // of the same session, of which messages note the length; nil: this is it
	name   string

	// turn is held by the one append that is under way; others wait in line for
	// it. It is a channel and not a mutex because a waiting append must be able to
	// give up. nil: nobody has asked for it, see turnOf.
	turn atomic.Pointer[chan struct{}]

	length  atomic.Int64 // committed bytes, as published
	modTime atomic.Int64 // unix ns
	known   atomic.Bool  // length and modTime are true (the log was opened once)
	broken  atomic.Bool  // a rollback or a Sync failed: no append and no sync until the store is opened anew
	full    atomic.Bool  // the disk was full during a rollback or Sync; see reopen
	pending atomic.Bool  // an append may have noted the length of events.jsonl and is not published yet
	used    atomic.Int64 // the janitor's clock when the log was last used

	mu     sync.Mutex
	files  *logFiles // nil while closed; guarded by mu
	users  int       // calls that use files now; guarded by mu
	synced extent    // end of the synced data, or of the data found at open; guarded by mu
	dirty  bool      // written to since the last syncAll; guarded by mu
	few    *fewLogs  // nil: it is not one of them; guarded by mu

	pace pace
	made atomic.Pointer[logIndex] // see index; nil: nobody has asked for it
}

// logFiles are a log's open descriptors, and what is known while it is open.
type logFiles struct {
	data     *archive.Data
	arrivals vfs.File
	nameless func() bool // whether somebody removed arrivals
	torn     bool        // the disk was too full to repair the end; guarded by Log.mu

	tail Tail     // guarded by Log.mu; changed only by the holder of turn and by opening
	keys *keyRing // nil: not read yet; guarded by Log.mu
	row  []byte   // scratch of the holder of turn
}

// Tail is where the log ends.
type Tail struct {
	Size     int64        // of the data that has rows
	Arrivals int64        // size of the arrivals file
	Chain    arrival.Hash // the chain's value behind the last row
	Events   int64        // length of events.jsonl that the last row notes, of messages.jsonl
	run      int          // rows since one that has the chain's value whole
}

// Init makes l the log called name of the session in dir. events is the session's log of events
// where l is that of messages, and has been made before; nil otherwise. Init is called once, before
// l is used.
func (l *Log) Init(dir *disk.Dir, set *Set, events *Log, name string) {
	l.dir, l.set, l.events, l.name = dir, set, events, name
}

// check returns an error if a line is no record of the log; see ctxabi.
func (l *Log) check(line []byte) error {
	if l.name == ctxabi.EventsFile {
		return ctxabi.CheckEvent(line)
	}
	return ctxabi.CheckMessage(line)
}

// Name is the log's file name.
func (l *Log) Name() string { return l.name }

// Len is the number of committed bytes: the only truth about EOF. It is 0 when
// the log cannot be opened; [Log.Open] says why.
func (l *Log) Len() int64 {
	l.Open()
	return l.length.Load()
}

// ModTime is when the log last grew.
func (l *Log) ModTime() time.Time {
	l.Open()
	return time.Unix(0, l.modTime.Load())
}

// Head returns the last value of the log's chain in hex, a hash over everything that was ever
// appended. It returns an error if the log cannot be opened.
func (l *Log) Head() (string, error) {
	tail, err := l.Tail()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(tail.Chain[:]), nil
}

// Lines is the number of records. It returns the errors of Index.
func (l *Log) Lines() (int, error) {
	ix, err := l.Index()
	if err != nil {
		return 0, err
	}
	return ix.Len(), nil
}

// Open opens the log, and recovers it when that was not done yet in this
// process. All other methods do it themselves; this one tells the error.
func (l *Log) Open() error {
	if l.known.Load() {
		return nil
	}
	if _, err := l.acquire(); err != nil {
		return err
	}
	l.release()
	return nil
}

// acquire returns the open files, which stay open until release.
func (l *Log) acquire() (*logFiles, error) {
	l.used.Store(l.set.clock.Load())
	if l.events != nil {
		// Rows of messages carry its length; order of locks: messages before events.
		if err := l.events.Open(); errors.Is(err, ctxabi.ErrNoFiles) {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dir.Removed() {
		return nil, ctxabi.E("open", l.name, ctxabi.ErrNotFound, "the session was removed")
	}
	if l.files == nil {
		if err := l.openFiles(); err != nil {
			return nil, err
		}
		l.set.add(l)
	}
	l.users++
	return l.files, nil
}

func (l *Log) release() {
	l.mu.Lock()
	if l.users--; l.users == 0 && l.few != nil && l.few.retired != nil {
		l.few.closeRetired()
	}
	l.mu.Unlock()
}

// openFiles opens and recovers the log; mu is held.
func (l *Log) openFiles() (err error) {
	s := l.dir.Root
	if l.set.closed.Load() { // the lock on the store is gone: another daemon may have it
		return ctxabi.E("open", l.name, ctxabi.ErrIO, "the store is closed")
	}
	s.Move.RLock()
	defer s.Move.RUnlock()
	f := new(logFiles)
	defer func() {
		if err != nil {
			f.close()
			err = l.cannotOpen(err)
		}
	}()
	if f.arrivals, err = l.openFile(ArrivalsFile(l.name)); err != nil {
		return err
	}
	f.nameless = vfs.NamelessFunc(f.arrivals)
	if f.data, err = l.openData(f.arrivals); err != nil {
		return err
	}
	fi, err := f.data.Stat()
	if err != nil {
		return err
	}
	tail, length, err := l.recover(f)
	if err != nil {
		return err
	}
	if !l.known.Load() {
		l.synced = tail.extent()
		l.modTime.Store(fi.ModTime().UnixNano())
	}
	f.tail = tail
	l.files = f
	if l.few != nil {
		l.few.told = ""
	}
	l.length.Store(length)
	l.known.Store(true)
	return nil
}

// cannotOpen is the error of a log that cannot be opened; it is told once as long as it stays the
// same. mu is held.
func (l *Log) cannotOpen(cause error) error {
	err := vfs.Failed("open", l.name, cause, "the log cannot be opened")
	if few, told := l.asOneOfFew(), err.Error(); told != few.told {
		few.told = told
		l.dir.Root.Logger.Error("open log", "session", l.dir.ID(), "err", err)
		if !errors.Is(err, ctxabi.ErrNoFiles) { // whoever needed it says so himself
			l.dir.ReportError("open", l.name, err)
		}
	}
	return err
}

// openFile opens a file of the log. One that somebody removed from the store is
// created, empty and durable: it does not block the session.
func (l *Log) openFile(rel string) (vfs.File, error) {
	x := l.dir
	name := x.Path(rel)
	if x.Root.ReadOnly {
		f, _, err := vfs.OpenRegular(x.Root.FS, name, os.O_RDONLY)
		return f, err
	}
	const flag = os.O_RDWR | os.O_APPEND
	f, _, err := vfs.OpenRegular(x.Root.FS, name, flag)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := x.Replace(rel, nil, true); err != nil {
		return nil, err
	}
	x.Report(disk.ErrorRow{Op: "open", Path: l.name, Errno: "EIO", Reason: rel + " was missing from the store; ctxfs made an empty one"})
	f, _, err = vfs.OpenRegular(x.Root.FS, name, flag)
	return f, err
}

func (f *logFiles) close() error {
	var failed error
	if f.data != nil {
		failed = f.data.Close()
	}
	if f.arrivals != nil {
		failed = errors.Join(failed, f.arrivals.Close())
	}
	return failed
}

// ReadAt reads committed bytes; io.EOF at Len. A reader never sees more than
// what was committed, whatever the backing file holds.
func (l *Log) ReadAt(p []byte, off int64) (int, error) {
	f, err := l.acquire()
	if err != nil {
		return 0, err
	}
	defer l.release()
	return l.readAt(f, p, off)
}

func (l *Log) readAt(f *logFiles, p []byte, off int64) (int, error) {
	end := l.length.Load()
	if off < 0 {
		return 0, ctxabi.E("read", l.name, ctxabi.ErrMalformed, "negative offset")
	}
	if off >= end {
		return 0, io.EOF
	}
	short := int64(len(p)) > end-off
	if short {
		p = p[:end-off]
	}
	if err := vfs.ReadFull(f.data, p, off); err != nil {
		why := "the log is shorter than its committed length, or the disk failed"
		var bad *archive.DamageError
		if errors.As(err, &bad) {
			why = fmt.Sprintf("%s is damaged: bytes %d to %d of the log cannot be read from it", bad.File, bad.From, bad.To)
		}
		err := vfs.Failed("read", l.name, err, why)
		l.dir.ReportError("read", l.name, err)
		return 0, err
	}
	if short {
		return len(p), io.EOF
	}
	return len(p), nil
}

// advance publishes position as the new length of the log. The turn is held.
func (l *Log) advance(position int64) {
	l.length.Store(position)
	l.modTime.Store(l.dir.Root.Now().UnixNano())
	l.dir.Grew()
}

// Sync makes all that is committed survive the loss of power. It syncs the
// data alone: arrival rows that are lost with the power are made up again when
// the log is opened. A failure is remembered: every later Append and Sync
// gives ErrIO until the store is opened anew, as the kernel may have dropped what it could not write.
// If the disk is full, it returns ErrNoSpace or ErrQuota until the disk has space; see reopen.
func (l *Log) Sync(ctx context.Context) error {
	if err := l.regain("fsync"); err != nil {
		return err
	}
	f, err := l.acquire()
	if err != nil {
		return err
	}
	defer l.release()
	if err := l.usable("fsync"); err != nil {
		return err
	}
	l.pace.synced()
	if err := l.syncData(f); err != nil {
		return err
	}
	return l.kept(f, "fsync")
}

var errRemoved = errors.New("its file was removed from the store")

// syncAll syncs data and arrivals of an open log that was written to.
func (l *Log) syncAll() error {
	if err := l.regain("fsync"); err != nil {
		return err
	}
	l.mu.Lock()
	f, dirty := l.files, l.dirty
	l.dirty = false
	if f != nil {
		l.users++
	}
	l.mu.Unlock()
	if f == nil {
		return nil
	}
	defer l.release()
	if !dirty || l.broken.Load() {
		return nil
	}
	if err := l.syncData(f); err != nil {
		return err
	}
	return l.syncRows(f) // rows can be recomputed
}

// Shut syncs and closes the log for good. It returns the errors of disks that could not take all.
func (l *Log) Shut() error {
	err := l.syncAll()
	if l.full.Load() { // a later daemon would take cached data for written data
		err = l.regain("fsync")
	}
	failed := errors.Join(l.saveIndex(), err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files != nil {
		failed = errors.Join(failed, l.files.close())
		l.files = nil
	}
	l.set.forget(l)
	return failed
}
