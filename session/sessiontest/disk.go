package sessiontest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Disk is a disk in memory. It is safe for concurrent use.
type Disk struct {
	mu      sync.Mutex
	root    *node
	journal []*dirOp // changes of directories that no sync covers
	born    int      // generation: raised by Kill and Crash, old handles fail
	now     time.Time
	faults  faults
}

var _ vfs.FS = (*Disk)(nil)

// node is a file or a directory.
type node struct {
	mode     fs.FileMode
	uid, gid uint32
	mtime    time.Time
	locked   bool

	entries map[string]*node // of a directory, now
	durable map[string]*node // of a directory, on the platter

	data   []byte // of a file, now
	synced []byte // of a file, on the platter

	lost      span   // bytes of a file that the kernel takes for written after a failed Sync
	rewritten []span // parts of lost that were written again
	ops       []fileOp
}

// span is a range of bytes.
type span struct{ from, to int64 }

// fileOp is a write at the end or, with data nil, a truncation.
type fileOp struct {
	data []byte
	size int64
}

// New returns an empty disk: one directory, "/".
func New() *Disk {
	return &Disk{root: newDir(), now: time.Unix(1_700_000_000, 0)}
}

func newDir() *node {
	return &node{mode: fs.ModeDir | 0o755, entries: map[string]*node{}, durable: map[string]*node{}}
}

// Now is a clock that ticks with every change of the disk, for session.Options.
func (d *Disk) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// find walks to a name.
func (d *Disk) find(name string) (*node, error) {
	n := d.root
	for _, part := range strings.Split(strings.Trim(path.Clean(name), "/"), "/") {
		if part == "" || part == "." {
			continue
		}
		next := n.entries[part]
		if next == nil {
			return nil, fs.ErrNotExist
		}
		n = next
	}
	return n, nil
}

func (d *Disk) parent(name string) (*node, string, error) {
	dir, err := d.find(path.Dir(name))
	if err == nil && dir.entries == nil {
		err = errors.New("not a directory")
	}
	return dir, path.Base(name), err
}

// OpenFile knows O_CREATE, O_EXCL and O_TRUNC; writes always go to the end.
// Its errors are path errors, as those of all methods of a Disk: what a real disk returns, or the fault that the disk was told to have.
func (d *Disk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, _ := d.find(name)
	creates := flag&os.O_CREATE != 0 && (old == nil || flag&os.O_TRUNC != 0)
	if err := d.faults.step(d, "open", name, creates); err != nil {
		return nil, pathError("open", name, err)
	}
	dir, base, err := d.parent(name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	n := dir.entries[base]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, pathError("open", name, fs.ErrNotExist)
	case n == nil:
		n = &node{mode: perm}
		d.change(&dirOp{kind: link, dir: dir, name: base, node: n})
		d.tick(n)
	case flag&os.O_EXCL != 0:
		return nil, pathError("open", name, fs.ErrExist)
	case n.entries != nil && flag&(os.O_WRONLY|os.O_RDWR) != 0:
		return nil, pathError("open", name, errors.New("is a directory"))
	case flag&os.O_TRUNC != 0:
		n.truncate(0)
		d.tick(n)
	}
	return &file{d: d, n: n, name: name, born: d.born}, nil
}

// Mkdir makes a directory; its errors are those of OpenFile.
func (d *Disk) Mkdir(name string, perm fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.faults.step(d, "mkdir", name, true); err != nil {
		return pathError("mkdir", name, err)
	}
	dir, base, err := d.parent(name)
	if err != nil {
		return pathError("mkdir", name, err)
	}
	if dir.entries[base] != nil {
		return pathError("mkdir", name, fs.ErrExist)
	}
	n := newDir()
	n.mode = fs.ModeDir | perm
	d.change(&dirOp{kind: link, dir: dir, name: base, node: n})
	d.tick(n)
	return nil
}

// Remove removes a file or an empty directory; its errors are those of OpenFile.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.faults.step(d, "remove", name, true); err != nil {
		return pathError("remove", name, err)
	}
	dir, base, err := d.parent(name)
	if err != nil {
		return pathError("remove", name, err)
	}
	n := dir.entries[base]
	if n == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if len(n.entries) > 0 {
		return pathError("remove", name, errors.New("directory not empty"))
	}
	d.change(&dirOp{kind: unlink, dir: dir, name: base})
	return nil
}

// Rename renames a file or directory, over one that is there; its errors are those of OpenFile.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.faults.step(d, "rename", to, true); err != nil {
		return pathError("rename", to, err)
	}
	dir, base, err := d.parent(from)
	if err != nil {
		return pathError("rename", from, err)
	}
	toDir, toBase, err := d.parent(to)
	if err != nil {
		return pathError("rename", to, err)
	}
	n := dir.entries[base]
	if n == nil {
		return pathError("rename", from, fs.ErrNotExist)
	}
	if over := toDir.entries[toBase]; over != nil && len(over.entries) > 0 {
		return pathError("rename", to, errors.New("directory not empty"))
	}
	d.change(&dirOp{kind: rename, dir: dir, name: base, to: toDir, toName: toBase, node: n})
	return nil
}

// Link makes a second name of a file; its errors are those of OpenFile.
func (d *Disk) Link(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.faults.step(d, "link", to, true); err != nil {
		return pathError("link", to, err)
	}
	n, err := d.find(from)
	if err != nil {
		return pathError("link", from, err)
	}
	dir, base, err := d.parent(to)
	if err != nil {
		return pathError("link", to, err)
	}
	if dir.entries[base] != nil {
		return pathError("link", to, fs.ErrExist)
	}
	d.change(&dirOp{kind: link, dir: dir, name: base, node: n})
	return nil
}

// Stat returns what is known of a file; its errors are those of OpenFile.
func (d *Disk) Stat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.faults.step(d, "stat", name, false); err != nil {
		return nil, pathError("stat", name, err)
	}
	n, err := d.find(name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return n.info(path.Base(name)), nil
}

// ReadDir lists a directory, sorted by name; its errors are those of OpenFile.
func (d *Disk) ReadDir(name string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.faults.step(d, "readdir", name, false); err != nil {
		return nil, pathError("readdir", name, err)
	}
	n, err := d.find(name)
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	var entries []fs.DirEntry
	for base, child := range n.entries {
		entries = append(entries, fs.FileInfoToDirEntry(child.info(base)))
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	return entries, nil
}

// Chown sets the owner; its errors are those of OpenFile.
func (d *Disk) Chown(name string, uid, gid int) error {
	return d.attr("chown", name, func(n *node) { n.uid, n.gid = uint32(uid), uint32(gid) })
}

// Chmod sets the mode; its errors are those of OpenFile.
func (d *Disk) Chmod(name string, mode fs.FileMode) error {
	return d.attr("chmod", name, func(n *node) { n.mode = n.mode&fs.ModeDir | mode&^fs.ModeDir })
}

// Chtimes sets the time; its errors are those of OpenFile.
func (d *Disk) Chtimes(name string, modified time.Time) error {
	return d.attr("chtimes", name, func(n *node) { n.mtime = modified })
}

func (d *Disk) attr(op, name string, set func(*node)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.faults.step(d, op, name, true); err != nil {
		return pathError(op, name, err)
	}
	n, err := d.find(name)
	if err != nil {
		return pathError(op, name, err)
	}
	set(n)
	return nil
}

// SyncDir makes the names in a directory durable; its errors are those of OpenFile.
func (d *Disk) SyncDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.faults.step(d, "syncdir", name, true); err != nil {
		return pathError("syncdir", name, err)
	}
	n, err := d.find(name)
	if err != nil {
		return pathError("syncdir", name, err)
	}
	d.syncDir(n)
	return nil
}

// Lock locks a file for one process; its errors are those of OpenFile.
func (d *Disk) Lock(name string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err != nil {
		return nil, pathError("lock", name, err)
	}
	if n.locked {
		return nil, ctxabi.ErrLocked
	}
	n.locked = true
	return unlocker{d, n, d.born}, nil
}

type unlocker struct {
	d    *Disk
	n    *node
	born int
}

func (u unlocker) Close() error {
	u.d.mu.Lock()
	defer u.d.mu.Unlock()
	if u.born == u.d.born {
		u.n.locked = false
	}
	return nil
}
