package locate

import (
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// MountedSession returns the directory of a session in a mount that answers: above the path that
// arg is, or where a mount of its store shows it. It looks at nothing that is compiled, so that a
// session is found although it has no pack now.
func MountedSession(arg string, at Place) (dir string, ok bool) {
	is := func(dir string) bool {
		for _, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile, ctxabi.AtDir} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				return false
			}
		}
		return true
	}
	_, _, err := daemon.MountAround(arg)
	abs := ""
	if err == nil && arg != "" {
		abs, err = filepath.Abs(arg)
	}
	if err == nil && arg != "" {
		_, err = os.Lstat(abs)
	}
	if err == nil && arg != "" {
		for dir := abs; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if is(dir) {
				return dir, true
			}
		}
	}
	if at != (Place{}) {
		if i, ok := daemon.AnsweringMount(at.Store); ok {
			dir := filepath.Join(i.Point, at.Ref.Path())
			return dir, is(dir)
		}
	}
	return "", false
}

// MountedDir returns the directory of the session at in the mount that arg lies in, or in that of
// the daemon that serves its store; "" when there is none. The error is a [mounts.SilentError] if
// this daemon does not answer.
func MountedDir(arg string, at Place) (dir string, err error) {
	if isPath(arg) {
		if i, _, ok := mounts.At(arg); ok {
			return filepath.Join(i.Point, at.Ref.Path()), nil
		}
	}
	point, err := ServedAt(at.Store)
	if point == "" {
		return "", err
	}
	return filepath.Join(point, at.Ref.Path()), nil
}

// ServedAt returns where a store is mounted; "" where it is not. The error is a
// [mounts.SilentError] if its daemon does not answer.
func ServedAt(store string) (point string, err error) {
	i, ok := mounts.OfStore(store) // a daemon that ends has none any more
	if d, runs := daemon.Running(store); runs && daemon.IsMounted(d.Mountpoint, d.Store) {
		i, _, ok = mounts.At(d.Mountpoint)
	}
	if !ok {
		return "", nil
	}
	if m, err := daemon.Ask(i); m.State == mounts.Gone {
		return "", nil
	} else if err != nil {
		return "", err
	}
	return i.Point, nil
}

// MountedSessions lists the sessions of the calling user that a mount shows, for root those of all
// users. Its error is that of [SessionsIn].
func MountedSessions(mountpoint string) (refs []ctxabi.Ref, err error) {
	if os.Getuid() == 0 {
		return SessionsIn(mountpoint, "home/*", "shared/*")
	}
	return SessionsIn(mountpoint, fmt.Sprintf("home/%d", os.Getuid()))
}

// SessionsIn lists the sessions that a mount shows of owners, which are patterns as "home/*". It returns
// [path.ErrBadPattern] if one of them is none.
func SessionsIn(mountpoint string, owners ...string) (refs []ctxabi.Ref, err error) {
	for _, owner := range owners {
		dirs, err := iofs.Glob(os.DirFS(mountpoint), owner+"/agent/*/session/*")
		if err != nil {
			return nil, err
		}
		for _, rel := range dirs {
			if ref, err := ctxabi.ParseRef(rel); err == nil {
				refs = append(refs, ref)
			}
		}
	}
	return refs, nil
}
