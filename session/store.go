package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// StoreFile is the file that makes a directory a store.
const StoreFile = "ctxfs.store"

// LockedDir is what a daemon locks beside [StoreFile].
const LockedDir = disk.TmpDir

// Options say how a store is opened. The zero value is right for a daemon.
type Options struct {
	VFS      vfs.FS           // nil: vfs.OS
	ReadOnly bool             // no lock, nothing is written: a look beside a running daemon
	Locked   bool             // with ReadOnly: take the locks anyway, for a daemon that writes nothing
	Now      func() time.Time // nil: time.Now
	Logger   *slog.Logger     // nil: discard
	Memory   *memory.Limit    // nil: none
	// Shown returns what latest.md and the results of children show of a message; nil: raw itself. It may ask for the session's Timeline.
	Shown func(x *Session, line int, raw []byte) ([]byte, error)
}

func (o *Options) fill() {
	if o.VFS == nil {
		o.VFS = vfs.OS
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	disk *disk.Root
	o    Options
	id   string

	header  sync.Mutex  // guards what follows
	version int         // in ctxfs.store
	locks   []io.Closer // none when read-only

	open log.Set

	create  sync.Mutex    // one session is made at a time
	renames atomic.Uint64 // of sessions and agents that have begun and ended so far

	watcher atomic.Pointer[Watcher] // nil: nobody watches

	mu       sync.Mutex
	damaged  map[ctxabi.Ref]string   // last logged reason why a session cannot be opened; guarded by mu
	sessions map[ctxabi.Ref]*Session // every session that was looked up; guarded by mu
	closed   bool                    // guarded by mu
}

// limits are those of all stores. A variable, for tests that cannot afford large records.
var limits = log.DefaultLimits()

// newStore returns the store in dir, of which nothing was read or locked yet.
func newStore(dir string, o Options) *Store {
	s := &Store{o: o, sessions: map[ctxabi.Ref]*Session{}, disk: &disk.Root{
		FS: o.VFS, Dir: dir, ReadOnly: o.ReadOnly, Now: o.Now, Logger: o.Logger}}
	s.open.Init(o.Memory, &limits)
	return s
}

// Look returns the store in dir, which may be damaged, to be read: nothing of it is locked, checked
// or changed. It is closed as another.
func Look(dir string, o Options) *Store {
	o.fill()
	o.ReadOnly = true
	return newStore(dir, o)
}

// Init makes a new, empty store in dir, which may exist if it is empty. It returns ctxabi.ErrExists
// if dir is a store or holds other things.
func Init(dir string, o Options) error {
	o.fill()
	v := o.VFS
	if err := v.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make store %s: %w", dir, err)
	}
	entries, err := v.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("make store %s: %w", dir, err)
	}
	for _, e := range entries {
		switch e.Name() {
		case StoreFile:
			return ctxabi.E("init", "", ctxabi.ErrExists, "%s is a store already", dir)
		case StoreFile + ".tmp", "lost+found": // of an Init that crashed; of a fresh disk
		default:
			return ctxabi.E("init", "", ctxabi.ErrExists,
				"%s is not empty (it contains %q) and is not a store; name an empty or a new directory", dir, e.Name())
		}
	}
	if err = WriteHeader(v, dir, disk.NewID()); err == nil {
		err = v.SyncDir(path.Dir(dir))
	}
	if err != nil {
		return fmt.Errorf("make store %s: %w", dir, err)
	}
	return nil
}

// Open opens the store in dir, making it when it does not exist. It fails with
// ctxabi.ErrLocked while a daemon serves it, and with ctxabi.ErrVersion when
// its format is newer than this program.
func Open(dir string, o Options) (*Store, error) {
	o.fill()
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	v := o.VFS
	if _, err := v.Stat(path.Join(dir, StoreFile)); errors.Is(err, fs.ErrNotExist) {
		if o.ReadOnly {
			return nil, ctxabi.E("open", "", ctxabi.ErrNotFound, "%s is not a ctxfs store (no %s in it)", dir, StoreFile)
		}
		if err := Init(dir, o); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	s := newStore(dir, o)
	s.disk.AsRoot = os.Geteuid() == 0
	if !o.ReadOnly || o.Locked {
		for _, name := range []string{StoreFile, LockedDir} {
			if _, err := v.Stat(path.Join(dir, name)); err != nil && o.ReadOnly {
				continue
			}
			lock, err := LockStore(v, dir, name)
			if err != nil {
				s.unlock()
				return nil, err
			}
			s.locks = append(s.locks, lock)
		}
	}
	if err := s.start(); err != nil {
		s.unlock()
		return nil, err
	}
	return s, nil
}

// LockStore takes one of the two locks of the store in dir: that of [StoreFile], which is all that
// older programs know, or that of [LockedDir], which stays what it is when the file is replaced by
// a copy. Nobody but the owner can open either, let alone lock it. It returns ctxabi.ErrLocked if
// another daemon has it.
func LockStore(v vfs.FS, dir, name string) (io.Closer, error) {
	if name == LockedDir {
		if err := v.Mkdir(path.Join(dir, name), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("lock store %s: %w", dir, err)
		}
		if fi, err := v.Stat(path.Join(dir, name)); err == nil && fi.IsDir() && fi.Mode().Perm() != 0o700 {
			if err := v.Chmod(path.Join(dir, name), 0o700); err != nil {
				return nil, fmt.Errorf("lock store %s: %w", dir, err)
			}
		}
	}
	lock, err := v.Lock(path.Join(dir, name))
	switch {
	case errors.Is(err, ctxabi.ErrLocked):
		return nil, ctxabi.E("open", "", ctxabi.ErrLocked, "%s is served by another ctxfs; unmount it first", dir)
	case err != nil:
		return nil, fmt.Errorf("lock store %s: %w", dir, err)
	}
	return lock, nil
}

// start reads the header, clears what a crash left behind and begins to close idle files.
func (s *Store) start() error {
	raw, err := vfs.ReadFile(s.disk.FS, path.Join(s.disk.Dir, StoreFile))
	if err != nil {
		return fmt.Errorf("open store %s: %w", s.disk.Dir, err)
	}
	h, err := ParseHeader(s.disk.Dir, raw)
	if err != nil {
		return err
	}
	s.id, s.version = h.ID, h.Version
	s.o.Memory.Cache(s.open.Cache())
	if s.disk.ReadOnly {
		if s.o.Locked {
			s.open.Start()
		}
		return nil
	}
	err = s.raise(ctxabi.FormatVersion)
	if errors.Is(err, ctxabi.ErrNoSpace) { // a full disk is still readable
		s.o.Logger.Error("the disk is full, so the store cannot get the present format and is served for reading only; make room and restart",
			"format", s.version, "err", err)
		s.disk.ReadOnly = true
		s.open.Start()
		return nil
	}
	if err != nil { // an older program would misread the additions
		return fmt.Errorf("open store %s: %w", s.disk.Dir, err)
	}
	for name, mode := range map[string]fs.FileMode{ctxabi.HomeDir: 0o755, ctxabi.SharedDir: 0o755, disk.TmpDir: 0o700} {
		if err := s.disk.FS.Mkdir(path.Join(s.disk.Dir, name), mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("open store %s: %w", s.disk.Dir, err)
		}
	}
	if s.disk.AsRoot {
		if err := s.keepUsersOut(); err != nil {
			return err
		}
	}
	if err := s.disk.FS.SyncDir(s.disk.Dir); err != nil {
		return fmt.Errorf("open store %s: %w", s.disk.Dir, err)
	}
	entries, _ := s.disk.FS.ReadDir(path.Join(s.disk.Dir, disk.TmpDir))
	for _, e := range entries {
		s.disk.RemoveAll(path.Join(s.disk.Dir, disk.TmpDir, e.Name()))
	}
	s.open.Start()
	return nil
}

// keepUsersOut makes the mount the only way in for the users of a store that
// root serves. The directories below home are in their hands: who could reach
// them past the mount could put a symbolic link where a directory was, and the
// daemon, being root, would read and write wherever it leads.
func (s *Store) keepUsersOut() error {
	fi, err := s.disk.FS.Stat(s.disk.Dir)
	if err != nil {
		return fmt.Errorf("open store %s: %w", s.disk.Dir, err)
	}
	uid, _, known := vfs.OwnerOf(fi)
	if known && uid != 0 || fi.Mode().Perm()&0o022 != 0 && fi.Mode()&fs.ModeSticky == 0 {
		return ctxabi.E("open", "", ctxabi.ErrProtected,
			"root serves only a store that nobody else can change, and %s belongs to uid %d with mode %04o; run `chown root %s && chmod go-w %s`, or mount it as its owner",
			s.disk.Dir, uid, fi.Mode().Perm(), s.disk.Dir, s.disk.Dir)
	}
	for _, name := range []string{ctxabi.HomeDir, ctxabi.SharedDir} {
		dir := path.Join(s.disk.Dir, name)
		if fi, err = s.disk.FS.Stat(dir); err == nil && !fi.IsDir() { // a link that whoever had the store before root left there
			return ctxabi.E("open", "", ctxabi.ErrProtected, "%s is not a directory; move it away", dir)
		}
		if err == nil && fi.Mode().Perm() != 0o700 {
			err = s.disk.FS.Chmod(dir, 0o700)
		}
		if err != nil {
			return fmt.Errorf("open store %s: %w", s.disk.Dir, err)
		}
	}
	return nil
}

// Discard takes a store away that was made in vain: one in which nothing is but what [Open] makes.
// Of another it removes nothing, or no more than empty directories that the next Open makes again.
// The directory stays, and s is still to be closed. It returns the error of the disk, to which a
// directory belongs that is not empty.
func (s *Store) Discard() error {
	if err := s.disk.Writable("remove"); err != nil {
		return err
	}
	for _, name := range []string{ctxabi.HomeDir, ctxabi.SharedDir, disk.TmpDir, StoreFile} {
		if err := s.disk.FS.Remove(path.Join(s.disk.Dir, name)); err != nil {
			return fmt.Errorf("discard store %s: %w", s.disk.Dir, err)
		}
	}
	return nil
}

// Dir is the store's absolute directory.
func (s *Store) Dir() string { return s.disk.Dir }

// ID is the store's 128-bit id in hex, for life.
func (s *Store) ID() string { return s.id }

// Close syncs all logs, writes the caches out and unlocks the store. Sessions of it must not be
// used any more. It returns the errors of disks that could not take all; a second call returns nil.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.open.Refuse()
	var logs []*log.Log
	for _, x := range s.sessions {
		logs = append(logs, &x.messages, &x.events)
	}
	s.mu.Unlock()
	s.open.Stop()
	var failed error
	for _, l := range logs {
		failed = errors.Join(failed, l.Shut())
	}
	return errors.Join(failed, s.unlock())
}

func (s *Store) unlock() (failed error) {
	s.header.Lock()
	defer s.header.Unlock()
	for _, lock := range s.locks {
		failed = errors.Join(failed, lock.Close())
	}
	s.locks = nil
	return failed
}

// Loaded calls yield for every session that was looked up since the store was opened.
func (s *Store) Loaded(yield func(*Session) bool) {
	s.mu.Lock()
	loaded := make([]*Session, 0, len(s.sessions))
	for _, x := range s.sessions {
		loaded = append(loaded, x)
	}
	s.mu.Unlock()
	for _, x := range loaded {
		if !yield(x) {
			return
		}
	}
}

// Sync makes everything that is committed in any open log survive the loss of power. It returns an
// error of kind ctxabi.ErrIO if a disk failed.
func (s *Store) Sync() error { return s.open.Sync() }

// Disk returns the store's directory, for packages that read it beside the store.
func (s *Store) Disk() *disk.Root { return s.disk }

// Forget drops the cached session ref, so that the next [Store.Session] reads it from the disk. The
// caller must make sure that the earlier value is no longer used.
func (s *Store) Forget(ref ctxabi.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ref)
}
