package mountpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
)

// writeBits are the permission bits that protection clears.
const writeBits = 0o222

// immutable is FS_IMMUTABLE_FL of linux/fs.h.
const immutable = 0x10

// Bare is the directory below a mount. [Prepare] opens it before the mount hides it, and the caller closes it.
type Bare struct {
	store, dir string
	file       *os.File
	mode       fs.FileMode // without protection
	was        fs.FileMode // when it was opened
	opened     bool        // openBare made it writable, and it is not protected again yet
}

// note records in the store how [Bare.Protect] changed the directory below the mount.
type note struct {
	Mountpoint string      `json:"mountpoint"`
	Inode      uint64      `json:"inode"`
	Mode       fs.FileMode `json:"mode"`      // the permissions before
	Immutable  bool        `json:"immutable"` // the flag was set; the permissions are as before
}

func noteFile(store string) string { return filepath.Join(store, session.MountpointFile) }

// readNote returns the note in store. It ignores a note with another owner, because that user could
// otherwise choose a directory that root changes.
func readNote(store string) (n note, ok bool) {
	b, err := os.ReadFile(noteFile(store))
	var st unix.Stat_t
	if err != nil || unix.Lstat(noteFile(store), &st) != nil || int(st.Uid) != os.Geteuid() {
		return n, false
	}
	return n, json.Unmarshal(b, &n) == nil
}

// write stores the note durably. It returns an error if the disk fails.
func (n note) write(store string) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	temp := noteFile(store) + ".new"
	os.Remove(temp)
	if err = vfs.WriteFile(vfs.OS, temp, append(b, '\n'), 0o600); err == nil {
		err = os.Rename(temp, noteFile(store))
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	return vfs.OS.SyncDir(store)
}

// describes reports whether n is about the directory f at dir.
func (n note) describes(dir string, f *os.File) bool {
	var st unix.Stat_t
	return n.Mountpoint == dir && unix.Fstat(int(f.Fd()), &st) == nil && st.Ino == n.Inode
}

// openBare opens the directory at dir, which must not be mounted. For a user other than root it
// makes a directory writable that a crashed daemon left protected, because fusermount3 requires it.
func openBare(store, dir string) (*Bare, error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("the mountpoint cannot be listed: %w", err)
	}
	b := &Bare{store: store, dir: dir, file: f}
	if b.was, err = permissions(f); err != nil {
		f.Close()
		return nil, err
	}
	b.mode = b.was
	if n, ok := readNote(store); ok && n.describes(dir, f) && b.was == n.Mode&^writeBits {
		b.mode = n.Mode
	} else if os.Geteuid() != 0 {
		b.mode |= 0o200
	}
	if os.Geteuid() != 0 && b.mode != b.was {
		b.opened = f.Chmod(b.mode) == nil
	}
	return b, nil
}

func permissions(f *os.File) (fs.FileMode, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Mode() & (fs.ModePerm | fs.ModeSticky | fs.ModeSetgid | fs.ModeSetuid), nil
}

// Close closes the directory. If [Prepare] made it writable and Protect did not protect it again,
// Close restores the earlier permissions.
func (b *Bare) Close() {
	if b.opened {
		b.file.Chmod(b.was)
	}
	b.file.Close()
}

// Protect prevents writes into the directory while it is not mounted. Root sets the immutable flag.
// Other users, or root on a file system without that flag, clear the write permissions. Protect
// records the change in the store for [Lift]. If it cannot write that note, or the directory
// belongs to another user, it returns an error and leaves the directory unchanged.
func (b *Bare) Protect() error {
	old, noted := readNote(b.store)
	if noted && old.Mountpoint != b.dir {
		Lift(b.store, old.Mountpoint)
	}
	if flags, err := flagsOf(b.file); err == nil && flags&immutable != 0 {
		return nil // still protected by a crashed daemon, or protected by its owner
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(b.file.Fd()), &st); err != nil {
		return err
	}
	if os.Geteuid() != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to uid %d: %w", b.dir, st.Uid, fs.ErrPermission)
	}
	n := note{Mountpoint: b.dir, Inode: st.Ino, Mode: b.mode, Immutable: os.Geteuid() == 0}
	if n.Immutable {
		if err := n.write(b.store); err != nil {
			return err
		}
		if setImmutable(b.file, true) == nil {
			return nil
		}
		n.Immutable = false
	}
	if !noted || old != n {
		if err := n.write(b.store); err != nil {
			return err
		}
	}
	b.opened = false
	return b.file.Chmod(b.mode &^ writeBits)
}

// Lift undoes the protection that a daemon of store gave the directory at dir. lifted is false if
// store has no note about dir or dir is mounted. If Lift cannot change the directory, it returns an
// error and the directory stays protected.
func Lift(store, dir string) (lifted bool, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	n, ok := readNote(store)
	if !ok || n.Mountpoint != dir {
		return false, nil
	}
	if _, mounted := MountedAt(dir); mounted {
		return false, nil
	}
	f, err := os.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, os.Remove(noteFile(store))
	case err != nil:
		return false, fmt.Errorf("%s stays protected against writes: %w", dir, err)
	}
	defer f.Close()
	if n.describes(dir, f) {
		if n.Immutable {
			err = setImmutable(f, false)
		} else if mode, modeErr := permissions(f); modeErr != nil {
			err = modeErr
		} else if mode == n.Mode&^writeBits {
			err = f.Chmod(n.Mode)
		}
		if err != nil {
			return false, fmt.Errorf("%s stays protected against writes: %w", dir, err)
		}
	}
	return true, os.Remove(noteFile(store))
}

// Protected returns the mountpoint that a daemon of store protected, or "" if there is none.
func Protected(store string) string {
	n, _ := readNote(store)
	return n.Mountpoint
}

// IsImmutable reports whether the directory at dir, which must not be mounted, is immutable.
func IsImmutable(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	flags, err := flagsOf(f)
	return err == nil && flags&immutable != 0
}

func flagsOf(f *os.File) (int, error) { return unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS) }

// setImmutable sets or clears the immutable flag. It returns an error if the file system does not
// support the flag or the process lacks CAP_LINUX_IMMUTABLE.
func setImmutable(f *os.File, on bool) error {
	flags, err := flagsOf(f)
	if err != nil {
		return err
	}
	want := flags &^ immutable
	if on {
		want |= immutable
	}
	if want == flags {
		return nil
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, want)
}
