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
)

// OpenToChange opens a store that is there and that no daemon serves.
func OpenToChange(dir string) (*session.Store, error) {
	if _, err := os.Stat(filepath.Join(dir, session.StoreFile)); err != nil {
		return OpenToRead(dir) // it says what is wrong
	}
	return OpenStore(dir, session.Options{})
}

// OpenToRead opens a store without its lock.
func OpenToRead(dir string) (*session.Store, error) { return openShown(dir, nil) }

// openShown is OpenToRead, where what is derived shows no secrets; a nil r redacts nothing.
func openShown(dir string, r *redact.Redactor) (*session.Store, error) {
	store, err := session.Open(dir, session.Options{ReadOnly: true, Shown: builder.Shown(r)})
	if errors.Is(err, iofs.ErrPermission) {
		return nil, fmt.Errorf("%w; the store is another user's: use its mount, where context/pack.md is the same", err)
	}
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, ctxabi.ErrNotFound) {
		return nil, fmt.Errorf("there is no store in %s; 'ctxfs mount' makes one, --store names another", dir)
	}
	return store, err
}

// OpenAt is openShown for who reads the session at. The store of a host of a cluster is a copy: its mount brings the
// session up to date before, where there is one. OpenAt returns the error of a mount that has nothing of the session
// and cannot get it.
func OpenAt(at locate.Place, r *redact.Redactor) (*session.Store, error) {
	if point, err := ClusterMount(at.Store); err != nil {
		return nil, err
	} else if point != "" {
		if err := Refresh(point, at.Ref); err != nil {
			return nil, err
		}
	}
	return openShown(at.Store, r)
}

// ClusterMount returns where the store of a host of a cluster is mounted; "" for another store, or where it is not.
func ClusterMount(store string) (point string, err error) {
	if _, err := os.Stat(filepath.Join(store, session.ClusterFile)); err != nil {
		return "", nil
	}
	return locate.ServedAt(store)
}

// RefreshOwner is Refresh for all sessions of the owner of ref, of which any may be a child or a parent.
func RefreshOwner(store string, ref ctxabi.Ref) error {
	point, err := ClusterMount(store)
	if point == "" || err != nil {
		return err
	}
	refs, err := locate.SessionsIn(point, ref.Owner())
	for _, ref := range refs {
		err = errors.Join(err, Refresh(point, ref))
	}
	return err
}

// Refresh opens a session through the mount at point, which waits for what other hosts have.
func Refresh(point string, ref ctxabi.Ref) error {
	f, err := os.Open(filepath.Join(point, ref.Path(), ctxabi.MessagesFile))
	if errors.Is(err, iofs.ErrPermission) || errors.Is(err, iofs.ErrNotExist) {
		return nil // the store decides, and has the words for it
	}
	if err == nil {
		f.Close()
	}
	return err
}

// NewOwner returns whose a new session is: the home's user, or the caller with the space's group.
func NewOwner(at locate.Place) (session.Owner, error) {
	if at.Ref.Space != "" {
		var st unix.Stat_t
		dir := filepath.Join(at.Store, at.Ref.Owner())
		if err := unix.Stat(dir, &st); err != nil {
			return session.Owner{}, fmt.Errorf("%s: %w; 'ctxfs space new' makes one", at.Ref.Owner(), err)
		}
		return session.Owner{UID: uint32(os.Getuid()), GID: st.Gid, Mode: 0o2770}, nil
	}
	o := session.Owner{UID: at.Ref.UID, GID: at.Ref.UID, Mode: 0o700}
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

// DaemonExitWait is how long OpenStore waits for a daemon that has lost its mount to leave the store.
const DaemonExitWait = 5 * time.Second

// OpenStore opens a store to write; what is missing of the path to it is made.
// A daemon that was just unmounted is given the time to leave it.
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
