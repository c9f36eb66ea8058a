package keeper

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/beneath"
)

// storeDir is what lies below a store's directory, where names are in the hands of users: no path is followed but
// beneath the directory, and no link.
type storeDir struct {
	root   int // of the store
	asRoot bool
}

// newName is how the name of a file begins that is being written. Mounts do not show it.
const newName = ctxabi.InternalDir + "-new-"

// openDisk returns what lies below a directory, or the error of opening it.
func openDisk(dir string) (*storeDir, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return &storeDir{fd, os.Geteuid() == 0}, nil
}

func (d *storeDir) close() { unix.Close(d.root) }

// stat returns the attributes of a file; fs.ErrNotExist if it is not there.
func (d *storeDir) stat(name string) (*unix.Statx_t, error) {
	fd, err := beneath.Open(d.root, name, unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return beneath.Stat(fd)
}

// is reports whether attributes are of a type.
func is(x *unix.Statx_t, typ uint32) bool { return uint32(x.Mode)&unix.S_IFMT == typ }

// in calls do with the open directory of a file.
func (d *storeDir) in(name string, do func(dir int, base string) error) error {
	fd, err := beneath.Open(d.root, path.Dir(name), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd, path.Base(name))
}

// synced calls do as in does, and makes what it has done to the directory durable.
func (d *storeDir) synced(name string, do func(dir int, base string) error) error {
	err := d.in(name, do)
	if err != nil {
		return err
	}
	fd, err := beneath.Open(d.root, path.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fsync(fd)
}

// remove removes a file, or an empty directory; it is no error if there is none.
func (d *storeDir) remove(name string, dir bool) error {
	flags := 0
	if dir {
		flags = unix.AT_REMOVEDIR
	}
	err := d.synced(name, func(fd int, base string) error { return unix.Unlinkat(fd, base, flags) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// rename renames a file; it returns fs.ErrExist if the new name is taken.
func (d *storeDir) rename(from, to string) error {
	return d.synced(from, func(a int, base string) error {
		return d.synced(to, func(b int, name string) error { return unix.Renameat2(a, base, b, name, unix.RENAME_NOREPLACE) })
	})
}

// mkdir makes a directory with the attributes of a node; one that is there gets them.
func (d *storeDir) mkdir(name string, n names.Node) error {
	err := d.synced(name, func(dir int, base string) error { return unix.Mkdirat(dir, base, 0o700) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.attributes(name, n)
}

// symlink makes a symbolic link.
func (d *storeDir) symlink(name string, n names.Node) error {
	return d.synced(name, func(dir int, base string) error {
		err := unix.Symlinkat(n.Target, dir, base)
		if err == nil && d.asRoot {
			err = unix.Fchownat(dir, base, int(n.UID), int(n.GID), unix.AT_SYMLINK_NOFOLLOW)
		}
		return err
	})
}

// write puts a file with the content data in the place of what has the name. Who has that open keeps it.
func (d *storeDir) write(name string, n names.Node, data []byte) error {
	var id [8]byte
	rand.Read(id[:])
	tmp := path.Join(path.Dir(name), newName+hex.EncodeToString(id[:]))
	fd, err := beneath.Open(d.root, tmp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), tmp)
	_, err = f.Write(data)
	err = errors.Join(err, d.setAttributes(fd, n))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.synced(name, func(dir int, base string) error { return unix.Renameat(dir, path.Base(tmp), dir, base) })
	}
	if err != nil {
		d.in(tmp, func(dir int, base string) error { return unix.Unlinkat(dir, base, 0) })
	}
	return err
}

// attributes sets those of a node to a file that is there.
func (d *storeDir) attributes(name string, n names.Node) error {
	fd, err := beneath.Open(d.root, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrPermission) { // of a file that its owner may not read: a daemon without rights can do no more
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return d.setAttributes(fd, n)
}

// setAttributes sets owner, mode, attributes and times, in the order in which none undoes another.
func (d *storeDir) setAttributes(fd int, n names.Node) error {
	if d.asRoot {
		if err := unix.Fchown(fd, int(n.UID), int(n.GID)); err != nil {
			return err
		}
	}
	if n.Kind == names.Regular {
		if err := setXattrs(fd, n.Xattrs); err != nil {
			return err
		}
	}
	if err := unix.Fchmod(fd, n.Mode); err != nil {
		return err
	}
	at := unix.NsecToTimespec(n.MTime)
	return unix.UtimesNanoAt(unix.AT_FDCWD, fmt.Sprint("/proc/self/fd/", fd), []unix.Timespec{{Nsec: unix.UTIME_OMIT}, at}, 0)
}

// setXattrs makes the attributes of users those of a node. A disk that has none is no error.
func setXattrs(fd int, want map[string][]byte) error {
	have, err := xattrs(fd)
	if err != nil {
		return err
	}
	for name, value := range want {
		if old, ok := have[name]; !ok || !bytes.Equal(old, value) {
			if err := unix.Fsetxattr(fd, name, value, 0); err != nil && have != nil {
				return err
			}
		}
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			if err := unix.Fremovexattr(fd, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// xattrs returns the attributes that users set; nil if there are none, or the disk has none.
func xattrs(fd int) (map[string][]byte, error) {
	list := make([]byte, 64<<10) // the most that there can be
	n, err := unix.Flistxattr(fd, list)
	if err != nil || n == 0 {
		return nil, nil
	}
	all := map[string][]byte{}
	for _, name := range strings.Split(strings.TrimSuffix(string(list[:n]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, "user.") || strings.HasPrefix(name, "user.ctx.") {
			continue
		}
		value := make([]byte, 64<<10)
		size, err := unix.Fgetxattr(fd, name, value)
		if err != nil {
			return nil, err
		}
		all[name] = value[:size]
	}
	return all, nil
}

// read returns what is called name as a node, with the content of a regular file. ok is false if it is neither
// a regular file of at most names.MaxFile bytes, nor a directory or a symbolic link. It returns fs.ErrNotExist
// if there is nothing.
func (d *storeDir) read(name string) (n names.Node, data []byte, ok bool, err error) {
	x, err := d.stat(name)
	if err != nil {
		return n, nil, false, err
	}
	n = names.Node{Mode: uint32(x.Mode) & 0o7777, UID: x.Uid, GID: x.Gid, MTime: x.Mtime.Sec*1e9 + int64(x.Mtime.Nsec)}
	switch {
	case is(x, unix.S_IFDIR):
		n.Kind = names.Directory
		return n, nil, true, nil
	case is(x, unix.S_IFLNK):
		n.Kind, n.Mode = names.Symbolic, 0
		err = d.in(name, func(dir int, base string) error {
			buf := make([]byte, unix.PathMax)
			size, err := unix.Readlinkat(dir, base, buf)
			n.Target = string(buf[:max(size, 0)])
			return err
		})
		return n, nil, err == nil, err
	case !is(x, unix.S_IFREG):
		return n, nil, false, nil
	}
	fd, err := beneath.Open(d.root, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return n, nil, false, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return readOpen(f)
}

// readOpen is read of a file that is open to be read, which need not have a name any more.
func readOpen(f *os.File) (n names.Node, data []byte, ok bool, err error) {
	x, err := beneath.Stat(int(f.Fd()))
	if err != nil || !is(x, unix.S_IFREG) || x.Size > names.MaxFile {
		return n, nil, false, err
	}
	n = names.Node{Kind: names.Regular, Mode: uint32(x.Mode) & 0o7777, UID: x.Uid, GID: x.Gid, MTime: x.Mtime.Sec*1e9 + int64(x.Mtime.Nsec)}
	if data, err = io.ReadAll(io.NewSectionReader(f, 0, names.MaxFile+1)); err != nil || len(data) > names.MaxFile {
		return n, nil, false, err
	}
	n.Size, n.Hash = int64(len(data)), Hash(data)
	n.Xattrs, err = xattrs(int(f.Fd()))
	return n, data, err == nil, err
}

// list returns the names in a directory, in order; none if it is not there.
func (d *storeDir) list(name string) ([]fs.DirEntry, error) {
	fd, err := beneath.Open(d.root, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
