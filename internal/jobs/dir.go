package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Dir is the directory of a user's jobs.
type Dir struct{ path string }

// At returns the directory at path, which [Open] has made.
func At(path string) Dir { return Dir{path} }

// Path returns where the directory is.
func (d Dir) Path() string { return d.path }

// Open returns the directory of the calling user's jobs, and makes it: ctxfs/hooks in $XDG_RUNTIME_DIR, else ctxfs-UID/hooks below the directory
// for temporary files. It returns an error if each of these is missing, not writable, or may be another user's.
func Open() (d Dir, err error) {
	uid := strconv.Itoa(os.Getuid())
	var own []string
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		own = append(own, filepath.Join(run, "ctxfs"))
	}
	for _, parent := range append(own, filepath.Join(os.TempDir(), "ctxfs-"+uid)) {
		d.path = filepath.Join(parent, "hooks")
		e := errors.Join(mine(parent), mine(d.path))
		if e == nil {
			return d, nil
		}
		err = errors.Join(err, e)
	}
	return Dir{}, err
}

// mine makes a directory that nobody else may change. It returns an error if the one that is there is not like that.
func mine(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if !IsMine(fi) {
		return fmt.Errorf("%s is not a directory that you alone can change", dir)
	}
	return unix.Access(dir, unix.W_OK|unix.X_OK)
}

// IsMine reports whether fi is a directory that only the calling user can modify.
func IsMine(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && fi.IsDir() && int(st.Uid) == os.Geteuid() && fi.Mode().Perm()&0o022 == 0
}

// pause is the time between two looks at what another process does.
const pause = 5 * time.Millisecond

// locked opens a file and takes its lock; it makes one that is not there if make is set. It returns the error of ctx if that ends first.
func locked(ctx context.Context, name string, make bool) (*os.File, error) {
	for {
		f, err := tryLock(name, make)
		if !errors.Is(err, errBusy) {
			return f, err
		}
		if err := sleep(ctx); err != nil {
			return nil, err
		}
	}
}

// errBusy is that somebody else has a lock.
var errBusy = errors.New("somebody else has it locked")

// tryLock is locked without waiting; it returns errBusy if somebody else has the lock.
func tryLock(name string, make bool) (*os.File, error) {
	flags := os.O_RDWR | unix.O_NOFOLLOW
	if make {
		flags |= os.O_CREATE
	}
	for {
		f, err := os.OpenFile(name, flags, 0o600)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			f.Close()
			if os.IsTimeout(err) {
				err = errBusy
			}
			return nil, err
		}
		// Who had it before may have removed it.
		has, err := f.Stat()
		if is, e := os.Lstat(name); err == nil && e == nil && os.SameFile(has, is) {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
}

func sleep(ctx context.Context) error {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
