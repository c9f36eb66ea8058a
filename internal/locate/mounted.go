package locate

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/usage"
)

// Verbs that an agent's own tools are made of work through a mount alone, as
// the agent does, in a container too, where neither the store nor its daemon is
// to be seen. This file finds the session they mean there.

// SessionEnv is the variable that names the session of an agent's tools where they are not told:
// as SESSION of every verb, or as a path.
const SessionEnv = "CTXFS_SESSION"

// mountEnv is the variable that names the mount in the same way.
const mountEnv = "CTXFS_MOUNT"

// NoMountError is the error that there is no mount to work in.
type NoMountError struct{ Err error }

func (e NoMountError) Error() string { return e.Err.Error() }

// Unwrap returns the error that e was made of.
func (e NoMountError) Unwrap() error { return e.Err }

// Mount returns where ctxfs is mounted: where flag or $CTXFS_MOUNT says, else the
// user's setting, else the mount of the default store, the only one of the user's
// own, or the only one that there is. It returns a [mounts.SilentError] if the one
// that is meant does not answer, a [NoMountError] if there is none, and an error
// that names all of them if it could be several.
func Mount(flag string) (string, error) {
	if flag = cmp.Or(flag, os.Getenv(mountEnv)); flag != "" {
		if _, _, err := daemon.MountAround(flag); err != nil {
			return "", err
		}
		root, err := filepath.Abs(flag)
		if err == nil {
			_, err = os.Stat(filepath.Join(root, "home"))
		}
		if err != nil {
			return "", NoMountError{fmt.Errorf("no ctxfs is mounted at %s: %w", flag, err)}
		}
		return root, nil
	}
	for _, find := range []func() (mounts.Info, bool){settingMount, defaultMount} {
		if i, ok := find(); ok {
			_, err := daemon.Ask(i)
			return i.Point, err
		}
	}
	answer, silent, err := mountsMeant()
	switch {
	case err != nil:
		return "", err
	case len(answer) == 0 && len(silent) > 0:
		return "", mounts.SilentError{Mount: silent[0]}
	}
	m, ok, err := oneMeant(answer, false)
	if err == nil && !ok {
		err = NoMountError{errors.New("no ctxfs is mounted; mount one with 'ctxfs mount DIR', or name a mount with --mount DIR")}
	}
	if err != nil {
		return "", err
	}
	warnOfSilent(silent)
	return m.Point, nil
}

// AgentDir returns the home of an agent of the calling user in the mount at root. It returns a
// [usage.Error] if agent is no name.
func AgentDir(root, agent string) (string, error) {
	if err := ctxabi.ValidName(agent); err != nil {
		return "", usage.Errorf("%q is not a name of an agent", agent)
	}
	return filepath.Join(root, ctxabi.Ref{UID: uint32(os.Getuid()), Agent: agent}.AgentHome()), nil
}

// SessionDir finds the directory of a session in a mount: AGENT/SESSION, the
// tree's name for it below the mount, or a path to it or into it. Where create
// is set, one that is not there is made. It returns a [usage.Error] if arg can
// name no session, the errors of [Mount], and an error if there is no such session.
func SessionDir(arg, mount string, create bool) (dir string, err error) {
	if isPath(arg) {
		if _, _, err := daemon.MountAround(arg); err != nil {
			return "", err
		}
		if dir, ok := MountedSession(arg, Place{}); ok {
			return dir, nil
		}
		if dir, err = filepath.Abs(arg); err != nil {
			return "", err
		}
	} else {
		ref, ok, err := namedSession(arg)
		if err != nil {
			return "", usage.Errorf("%q is not AGENT/SESSION: %w", arg, err)
		}
		if !ok {
			return "", usage.Errorf("%q is neither AGENT/SESSION nor a path in a mount.\n%s", arg, SessionHelp)
		}
		root, err := Mount(mount)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, ref.Path())
	}
	if _, ok := MountedSession(dir, Place{}); ok {
		return dir, nil
	}
	if !create {
		return "", fmt.Errorf("there is no session %s; make it with mkdir -p", dir)
	}
	if filepath.Base(filepath.Dir(dir)) != ctxabi.SessionDir {
		return "", usage.Errorf("%s is not a session and cannot become one: the path of a session is .../agent/AGENT/session/SESSION", dir)
	}
	if _, _, ok := mounts.At(dir); !ok {
		return "", fmt.Errorf("%s is not in a mount of ctxfs", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if _, ok := MountedSession(dir, Place{}); !ok {
		return "", fmt.Errorf("%s is a directory, but not a session", dir)
	}
	return dir, nil
}
