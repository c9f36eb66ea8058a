package mountpoint

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/mounts"
)

// Prepare checks the requirements of a mount and opens the directory that the mount will hide. The
// directory may contain stray files of programs that expected a mount; see [Bare.Collect]. An error
// of Prepare names the remedy.
func Prepare(store, mountpoint string) (*Bare, error) {
	if !filepath.IsAbs(mountpoint) {
		return nil, fmt.Errorf("the mountpoint %s is not an absolute path", mountpoint)
	}
	if err := Repair(mountpoint); err != nil {
		return nil, err
	}
	fi, err := os.Stat(mountpoint)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("the mountpoint %s does not exist: make it with mkdir -p %s", mountpoint, mountpoint)
	case err != nil:
		return nil, fmt.Errorf("the mountpoint cannot be read: %w", err)
	case !fi.IsDir():
		return nil, fmt.Errorf("the mountpoint %s is not a directory", mountpoint)
	}
	if err := notNested(store, mountpoint); err != nil {
		return nil, err
	}
	if fstype, mounted := MountedAt(mountpoint); mounted {
		return nil, fmt.Errorf("the mountpoint %s is busy: a filesystem (%s) is mounted there already; unmount it with ctxfs umount %s, or choose another directory", mountpoint, fstype, mountpoint)
	}
	bare, err := openBare(store, mountpoint)
	if err != nil {
		return nil, err
	}
	name, err := Foreign(mountpoint)
	if err == nil && name != "" {
		err = fmt.Errorf("the mountpoint %s is not empty (it contains %s, and ctxfs did not make that): the mount would hide that; move it away, or choose an empty directory", mountpoint, name)
	} else if err != nil {
		err = fmt.Errorf("the mountpoint cannot be listed: %w", err)
	} else {
		err = prerequisites(mountpoint)
	}
	if err != nil {
		bare.Close()
		return nil, err
	}
	return bare, nil
}

// prerequisites returns an error if the machine lacks what a mount needs.
func prerequisites(mountpoint string) error {
	switch _, err := os.Stat("/dev/fuse"); {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("there is no /dev/fuse: load the module with modprobe fuse; in a container, start it with --device /dev/fuse")
	case err != nil:
		return fmt.Errorf("/dev/fuse cannot be read: %w", err)
	}
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("/dev/fuse cannot be opened (%v): it needs mode 0666 (chmod 666 /dev/fuse), and in a container --device /dev/fuse", err)
	}
	f.Close()
	if os.Geteuid() == 0 {
		return nil
	}
	if _, err := fusermount(); err != nil {
		return errors.New("fusermount3 is not installed, without which only root can mount: install it with apt-get install fuse3 (or dnf install fuse3)")
	}
	if _, err := user.LookupId(strconv.Itoa(os.Geteuid())); err != nil {
		return fmt.Errorf("uid %d has no entry in /etc/passwd, which fusermount3 requires: mount as a user who has, or as root", os.Geteuid())
	}
	if err := unix.Access(mountpoint, unix.W_OK); err != nil {
		return fmt.Errorf("you cannot write to the mountpoint %s, and fusermount3 requires that: choose a directory of your own", mountpoint)
	}
	return nil
}

// Repair detaches what daemons that died have left at mountpoint, one mount over the other. It returns an error that names
// the remedy if one cannot be detached.
func Repair(mountpoint string) error {
	for range 64 {
		if !Dead(mountpoint) {
			return nil
		}
		if err := Detach(mountpoint); err != nil {
			return fmt.Errorf("%s is left over from a daemon that died and cannot be detached (%v): run fusermount3 -u -z %s, or umount -l %s as root", mountpoint, err, mountpoint, mountpoint)
		}
	}
	return fmt.Errorf("%s is left over from daemons that died, more than 64 deep: run umount -l %s as root", mountpoint, mountpoint)
}

// Dead reports whether the mount at mountpoint has lost its daemon. Every request to such a mount
// fails, also from processes that stand in it and from containers that have it.
func Dead(mountpoint string) bool {
	var s unix.Statfs_t
	err := unix.Statfs(mountpoint, &s) // a stat may be answered from what the kernel knows
	return err == syscall.ENOTCONN || err == syscall.ECONNABORTED
}

// notNested returns an error if the store lies inside the mountpoint or the mountpoint inside the
// store. It resolves symbolic links.
func notNested(store, mountpoint string) error {
	s, err := filepath.EvalSymlinks(store)
	if err != nil {
		return fmt.Errorf("the store cannot be found: %w", err)
	}
	m, err := filepath.EvalSymlinks(mountpoint)
	if err != nil {
		return fmt.Errorf("the mountpoint cannot be found: %w", err)
	}
	switch {
	case s == m:
		return fmt.Errorf("the store and the mountpoint are the same directory, %s: choose two", m)
	case within(s, m):
		return fmt.Errorf("the store %s lies inside the mountpoint %s, which would hide it: choose a directory beside it", s, m)
	case within(m, s):
		return fmt.Errorf("the mountpoint %s lies inside the store %s: choose a directory beside it", m, s)
	}
	return nil
}

// within reports whether path p lies below dir. Both are clean and absolute.
func within(p, dir string) bool { return strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") }

// MountedAt reports whether something is mounted at dir, and its type.
func MountedAt(dir string) (fstype string, mounted bool) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	all, err := mounts.Table()
	if err != nil {
		return "", false
	}
	for _, m := range all {
		if m.Point == real {
			fstype, mounted = m.Type, true
		}
	}
	return fstype, mounted
}

// Explain returns an error that explains a failed mount to a person. stderr is what
// fusermount3 wrote there.
func Explain(mountpoint string, err error, stderr string) error {
	switch {
	case os.Geteuid() == 0 && (errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES)):
		return fmt.Errorf("the kernel does not allow this process to mount (%w): in a container it needs --cap-add SYS_ADMIN and --security-opt apparmor=unconfined", err)
	case errors.Is(err, syscall.ENODEV):
		return fmt.Errorf("the kernel has no FUSE (%w): load the module with modprobe fuse", err)
	case os.Geteuid() != 0:
		if stderr == "" {
			stderr = strings.TrimSpace(err.Error())
		}
		return fmt.Errorf("fusermount3 could not mount at %s: %s", mountpoint, stderr)
	}
	return fmt.Errorf("%s cannot be mounted: %w", mountpoint, err)
}

// CaptureStderr runs fn and returns what it, or a program it started, wrote to standard error:
// fusermount3 explains a failure nowhere else.
func CaptureStderr(fn func()) string {
	r, w, err := os.Pipe()
	if err != nil {
		fn()
		return ""
	}
	was := os.Stderr
	os.Stderr = w
	fn()
	os.Stderr = was
	w.Close()
	text, _ := io.ReadAll(r)
	r.Close()
	return strings.TrimSpace(string(text))
}

func fusermount() (string, error) {
	for _, name := range []string{"fusermount3", "/bin/fusermount3", "/usr/bin/fusermount3", "fusermount"} {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}

// release unmounts; lazy detaches a mount that is in use.
func release(mountpoint string, lazy bool) error {
	if os.Geteuid() == 0 {
		flags := unix.UMOUNT_NOFOLLOW
		if lazy {
			flags |= unix.MNT_DETACH
		}
		return unix.Unmount(mountpoint, flags)
	}
	bin, err := fusermount()
	if err != nil {
		return err
	}
	args := []string{"-u", mountpoint}
	if lazy {
		args = []string{"-u", "-z", mountpoint}
	}
	out, err := exec.Command(bin, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	return unmountError(strings.TrimSpace(string(out)), err)
}

// unmountError returns an error that wraps the errno in the words of a fusermount that failed with
// err.
func unmountError(text string, err error) error {
	switch {
	case strings.Contains(text, "open /etc/mtab"):
		return fmt.Errorf("%s: as root, ln -s ../proc/self/mounts /etc/mtab, which other systems have: %w", text, err)
	case strings.Contains(text, "busy"):
		return fmt.Errorf("%s: %w", text, syscall.EBUSY)
	case strings.Contains(text, "not found in"), strings.Contains(text, "Invalid argument"):
		return fmt.Errorf("%s: %w", text, syscall.EINVAL)
	case strings.Contains(text, "No such file"):
		return fmt.Errorf("%s: %w", text, syscall.ENOENT)
	}
	return fmt.Errorf("%s: %w", text, err)
}

// Unmount is release that waits, less than a second, for the files of programs that just ended
// and of others that pass by, such as df. It returns an error that wraps EBUSY, EINVAL or fs.ErrNotExist, as release does.
func Unmount(mountpoint string) error {
	for wait := 5 * time.Millisecond; ; wait *= 2 {
		err := release(mountpoint, false)
		if !errors.Is(err, syscall.EBUSY) || wait > 400*time.Millisecond {
			return err
		}
		time.Sleep(wait)
	}
}

// Detach takes the mount at mountpoint out of the tree, although it is in use. It returns the errors of release.
func Detach(mountpoint string) error { return release(mountpoint, true) }
