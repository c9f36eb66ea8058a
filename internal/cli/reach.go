package cli

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// OpenToChange opens an existing store to change it. It returns an error if there is no store, and
// ctxabi.ErrLocked if a daemon serves it.
func OpenToChange(dir string) (*session.Store, error) {
	if _, err := os.Stat(filepath.Join(dir, session.StoreFile)); err != nil {
		return OpenToRead(dir) // it says what is wrong
	}
	return OpenStore(dir, session.Options{})
}

// OpenToRead opens a store to read it, without its lock. The error for a missing store or missing
// permission names the remedy.
func OpenToRead(dir string) (*session.Store, error) { return OpenShown(dir, nil) }

// OpenShown is OpenToRead with the redactor r for derived content; a nil r redacts nothing.
func OpenShown(dir string, r *redact.Redactor) (*session.Store, error) {
	store, err := session.Open(dir, session.Options{ReadOnly: true, Shown: builder.Shown(r)})
	if errors.Is(err, iofs.ErrPermission) {
		return nil, fmt.Errorf("%w; the store is another user's: use its mount, where context/pack.md is the same", err)
	}
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, ctxabi.ErrNotFound) {
		return nil, fmt.Errorf("there is no store in %s; 'ctxfs mount' makes one, --store names another", dir)
	}
	return store, err
}

// NewOwner returns the owner of a new session: the user of the home, or the caller with the group
// of the space. It returns an error if the space does not exist.
func NewOwner(at locate.Place) (disk.Owner, error) {
	if at.Ref.Space != "" {
		var st unix.Stat_t
		dir := filepath.Join(at.Store, at.Ref.Owner())
		if err := unix.Stat(dir, &st); err != nil {
			return disk.Owner{}, fmt.Errorf("%s: %w; 'ctxfs space new' makes one", at.Ref.Owner(), err)
		}
		return disk.Owner{UID: uint32(os.Getuid()), GID: st.Gid, Mode: 0o2770}, nil
	}
	o := disk.Owner{UID: at.Ref.UID, GID: at.Ref.UID, Mode: 0o700}
	if int(o.UID) == os.Getuid() {
		o.GID = uint32(os.Getgid())
	} else if u, err := user.LookupId(strconv.Itoa(int(o.UID))); err == nil {
		if gid, err := strconv.ParseUint(u.Gid, 10, 32); err == nil {
			o.GID = uint32(gid)
		}
	}
	return o, nil
}

// ClearMounts removes the mounts of a store that a killed daemon left. The package that mounts sets
// it.
var ClearMounts = func(store string) {}

// DaemonExitWait is the time that OpenStore waits for a daemon without a mount to exit.
const DaemonExitWait = 5 * time.Second

// OpenStore opens a store to write, and creates the store and its parent directories if necessary.
// It waits for a daemon that was just unmounted. If another process keeps the lock, it returns
// ctxabi.ErrLocked with the mountpoint and the process.
func OpenStore(dir string, o session.Options) (*session.Store, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	for late := time.Now().Add(DaemonExitWait); ; {
		store, err := session.Open(dir, o)
		if !errors.Is(err, ctxabi.ErrLocked) {
			return store, err
		}
		d, held := daemon.Running(dir)
		if held && mounts.Ended(d.PID) {
			ClearMounts(d.Store)
		}
		serves := d.Mountpoint != "" && daemon.IsMounted(d.Mountpoint, d.Store)
		if left := time.Until(late); !serves && left > 0 {
			if held && d.PID > 0 {
				daemon.WaitForExit(d.PID, left)
				continue
			} else if !held { // it has gone since
				time.Sleep(time.Millisecond)
				continue
			}
		}
		if d.Mountpoint != "" {
			err = fmt.Errorf("%w (it is mounted at %s, pid %d)", err, d.Mountpoint, d.PID)
		}
		if serves {
			if _, _, silent := daemon.MountAround(d.Mountpoint); silent != nil {
				err = fmt.Errorf("%w; %w", err, silent)
			}
		}
		return nil, err
	}
}
