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

// writeBits are the permissions that a protected directory lacks.
const writeBits = 0o222

// immutable is FS_IMMUTABLE_FL of linux/fs.h.
const immutable = 0x10

// Bare is the directory below a mount. [Prepare] opens it before the mount hides it, and the caller closes it.
type Bare struct {
	store, dir string
	file       *os.File
	mode       fs.FileMode // without protection
	was        fs.FileMode // when it was opened
	opened     bool        // it was made writable, and is not protected again yet
}

// note records in the store of a mount what [Bare.Protect] changed of the directory below the mount.
type note struct {
	Mountpoint string      `json:"mountpoint"`
	Inode      uint64      `json:"inode"`
	Mode       fs.FileMode `json:"mode"`      // the permissions before
	Immutable  bool        `json:"immutable"` // the flag was set; the permissions are as before
}

func noteFile(store string) string { return filepath.Join(store, session.MountpointFile) }

// readNote returns the note in store. It ignores a note of another owner: who can write it would choose
// the directory that root changes.
func readNote(store string) (n note, ok bool) {
	b, err := os.ReadFile(noteFile(store))
	var st unix.Stat_t
	if err != nil || unix.Lstat(noteFile(store), &st) != nil || int(st.Uid) != os.Geteuid() {
		return n, false
	}
	return n, json.Unmarshal(b, &n) == nil
}

// write stores the note so that it survives a crash. It returns the error of the disk.
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

// openBare opens the directory at dir, on which nothing is mounted. For a user it makes the directory writable again
// where a daemon that died has left it protected: fusermount3 requires that.
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

// Close closes the directory. If it is not mounted on, it is protected as it was before [Prepare].
func (b *Bare) Close() {
	if b.opened {
		b.file.Chmod(b.was)
	}
	b.file.Close()
}

// Protect keeps everyone from writing into the directory while it is not mounted on: as root by the immutable
// flag, and where that cannot be set, or for a user, by its permissions. It notes in the store what it changes,
// for [Lift]. It returns an error if the note cannot be written or the directory is of another user; the directory
// is as it was then.
func (b *Bare) Protect() error {
	old, noted := readNote(b.store)
	if noted && old.Mountpoint != b.dir {
		Lift(b.store, old.Mountpoint)
	}
	if flags, err := flagsOf(b.file); err == nil && flags&immutable != 0 {
		return nil // it was protected when the last daemon died, or its owner protects it
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

// Lift makes the directory at dir what it was before a daemon of store protected it. lifted is false if store has no
// note of dir, or something is mounted there. The error is that of the directory, which stays protected.
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

// Protected returns the mountpoint that a daemon of store has protected, "" if there is none.
func Protected(store string) string {
	n, _ := readNote(store)
	return n.Mountpoint
}

// IsImmutable reports whether the directory at dir, on which nothing is mounted, has the immutable flag.
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

// setImmutable sets or clears the flag. It returns the error of a file system without it, or without the
// privilege (CAP_LINUX_IMMUTABLE).
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
