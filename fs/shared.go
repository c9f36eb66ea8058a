package fs

import (
	"context"
	"os"
	"path"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/session/disk"
)

// Files shares ordinary files with other hosts, by their paths in the store. Package cluster/files explains its
// methods. Errors are of ctxabi or of the disk.
//
// Where a method has an argument local, it is called at most once, when the operation is certain, and does the
// same on the disk of this host. What it does not do is done without it. It holds up all who change files of the
// same owner, so it waits for nobody: not for renames, and for no other call of Files.
type Files interface {
	// Mounted hands over what reports whether somebody has the file of a name open and has changed it.
	Mounted(changing func(name string) bool)
	// Shared reports whether hosts share what has a name, unless it is too large.
	Shared(name string) bool
	// Fresh waits, within bounds, until what other hosts committed before is on the disk: before the call if
	// now is set, else before a moment that is a little older.
	Fresh(name string, now bool)

	Mkdir(ctx context.Context, name string, o disk.Owner, local func() error) error
	Symlink(ctx context.Context, name, target string, o disk.Owner, local func() error) error
	// Remove removes a file or an empty directory, and RemoveAgent an agent's home.
	Remove(ctx context.Context, name string, dir bool, local func() error) error
	RemoveAgent(ctx context.Context, name string, local func() error) error
	// Rename renames; crosses is true if nothing was done because who renames has to copy.
	Rename(ctx context.Context, from, to string, keep bool, local func() error) (crosses bool, err error)
	// Changed commits what a file is on the disk that nobody has open and changed.
	Changed(ctx context.Context, name string) error
	// Put replaces the content of a file.
	Put(ctx context.Context, name string, o disk.Owner, data []byte) error

	// Base returns which content hosts share of a file that nobody changes, and Write commits one that was
	// changed since. Both get the file open to be read. Write returns the name that the content has now, and
	// the base of what is changed after that.
	Base(f *os.File) (base string, err error)
	Write(ctx context.Context, name, base string, f *os.File) (kept, next string, err error)
}

// fresh brings a file of the store up to date with other hosts.
func (t *tree) fresh(name string, now bool) {
	if t.files != nil {
		t.files.Fresh(name, now)
	}
}

// isShared reports whether hosts share a file of the store.
func (t *tree) isShared(name string) bool { return t.files != nil && t.files.Shared(name) }

// named returns the path in the store of name in the directory, and whether hosts share it. Without other
// hosts it is "".
func (p *plain) named(name string) (rel string, shared bool) {
	if p.t.files == nil {
		return "", false
	}
	rel = path.Join(storePath(p.EmbeddedInode()), name)
	return rel, p.t.files.Shared(rel)
}

// inode is a file of the disk.
type inode struct{ dev, ino uint64 }

func inodeOf(x *unix.Statx_t) inode { return inode{unix.Mkdev(x.Dev_major, x.Dev_minor), x.Ino} }

// sharedOpen are the shared files that are open to be changed. Its zero value is ready; it is safe for
// concurrent use.
type sharedOpen struct {
	mu   sync.Mutex
	open map[inode]*sharedFile // guarded by mu
}

// sharedFile is a shared file that is open to be changed, by whatever name.
type sharedFile struct {
	refs int // guarded by sharedOpen.mu

	began  sync.Once
	writes atomic.Uint64 // counts what changes the file, before and after it does
	saved  atomic.Uint64 // what writes was when the file was read that is committed
	gone   atomic.Bool   // a user of this host has removed or replaced it

	mu   sync.Mutex // held while the file is committed; guards what follows
	base string     // what hosts share of it
	name string     // by which it was committed last, or was opened
	kept bool       // it has the name by a conflict, and not the name that it was opened by
}

func (f *sharedFile) changed() bool { return f.writes.Load() != f.saved.Load() && !f.gone.Load() }

// begin returns the file with an inode, which is open as fd, and counts a handle of it. The name is the one that
// it was opened by; a file that is new has no base.
func (s *sharedOpen) begin(t *tree, id inode, fd int, name string, isNew bool) *sharedFile {
	s.mu.Lock()
	f := s.open[id]
	if f == nil {
		f = &sharedFile{name: name}
		if s.open == nil {
			s.open = map[inode]*sharedFile{}
		}
		s.open[id] = f
	}
	f.refs++
	s.mu.Unlock()
	f.began.Do(func() {
		if isNew {
			f.writes.Add(1)
			return
		}
		r, err := reopen(fd)
		if err == nil {
			f.base, err = t.files.Base(r)
			r.Close()
		}
		if err != nil {
			t.log.Warn("a shared file cannot be read; what is written to it becomes a file of its own", "file", name, "err", err)
		}
	})
	return f
}

// end counts a handle less.
func (s *sharedOpen) end(id inode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[id]; f != nil {
		if f.refs--; f.refs == 0 {
			delete(s.open, id)
		}
	}
}

// of returns the file with an inode, or nil if nobody has it open to change it.
func (s *sharedOpen) of(id inode) *sharedFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// removed notes that a user of this host has removed or replaced a file.
func (s *sharedOpen) removed(x *unix.Statx_t) {
	if x == nil {
		return
	}
	if f := s.of(inodeOf(x)); f != nil {
		f.gone.Store(true)
	}
}

// changing reports whether somebody has the file of a name open and has changed it.
func (t *tree) changing(name string) bool {
	t.shared.mu.Lock()
	none := len(t.shared.open) == 0
	t.shared.mu.Unlock()
	if none {
		return false
	}
	x, err := t.stat(name)
	if err != nil {
		return false
	}
	f := t.shared.of(inodeOf(x))
	return f != nil && f.changed()
}

// reopen opens the file that is open as fd once more, to be read. It may have no name any more.
func reopen(fd int) (*os.File, error) {
	r, err := unix.Open(procPath(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(r), ""), nil
}

// save commits a file that is open as fd, if it was changed. at is its name now, which hosts may not share.
func (t *tree) save(ctx context.Context, f *sharedFile, fd int, at string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.changed() {
		return nil
	}
	if !f.kept && t.isShared(at) { // else another host has replaced it, or it was moved to where it is of this host
		f.name = at
	}
	n := f.writes.Load()
	r, err := reopen(fd)
	if err != nil {
		return err
	}
	defer r.Close()
	name, base, err := t.files.Write(ctx, f.name, f.base, r)
	if err != nil {
		t.log.Warn("what was written is of this host alone for now", "file", f.name, "reason", err)
		return err
	}
	f.kept = f.kept || name != f.name
	f.name, f.base = name, base
	f.saved.Store(n)
	return nil
}
