package locate

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/usage"
	"github.com/ctxfs/ctxfs/session"
)

// Mountpoint returns p as an absolute path without links above it. It never touches p
// itself, which may be a dead mount that answers nothing. It returns the error of a link
// above it that cannot be followed.
func Mountpoint(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil || abs == "/" {
		return abs, err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if errors.Is(err, os.ErrNotExist) {
		return abs, nil
	}
	return filepath.Join(parent, filepath.Base(abs)), err
}

// storeAbove finds the store that path p lies in by walking up to a ctxfs.store file; "" when there is none.
func storeAbove(p string) string {
	for dir := p; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, session.StoreFile)); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// Place is a session and the store that holds it.
type Place struct {
	Store string
	Ref   ctxabi.Ref
}

const SessionHelp = `SESSION is one of
  AGENT/SESSION                           one of yours (in $CTXFS_MOUNT, if set)
  home/UID/agent/AGENT/session/SESSION    its path in the tree (or shared/SPACE/...)
  a path to it in a mount or in a store   "." for example`

// Store returns the store in which a session without a path is: the one that flag names, else that
// of the mount that $CTXFS_MOUNT or the user's setting names, else the default one; where that is
// not there, what the only mount serves, the user's own before root's. Users of root's mount have
// no store of their own. It returns a [mounts.SilentError] if all that could be meant do not
// answer, and an error that names them if several do.
func Store(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if dir := os.Getenv(mountEnv); dir != "" {
		if m, _, ok := mounts.At(dir); ok {
			return m.Source, nil
		}
	}
	if i, ok := settingMount(); ok {
		return i.Source, nil
	}
	store := DefaultStore()
	if _, err := os.Stat(filepath.Join(store, session.StoreFile)); errors.Is(err, os.ErrNotExist) {
		answer, silent, err := mountsMeant()
		if err != nil {
			return "", err
		}
		if len(answer) == 0 && len(silent) > 0 {
			return "", mounts.SilentError{Mount: silent[0]}
		}
		if m, ok, err := oneMeant(answer, true); ok || err != nil {
			warnOfSilent(silent)
			return m.Source, err
		}
	}
	return store, nil
}

func oneStore(all []mounts.Mount) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(m mounts.Mount) bool { return m.Source != all[0].Source })
}

// Session returns which session the user means with arg. store is the --store flag, "" when it was
// not given. It returns a [usage.Error] if arg can name no session, a [mounts.SilentError] if it
// lies in a mount that does not answer, and the errors of [Store].
func Session(arg, store string) (Place, error) {
	ref, ok, badName := namedSession(arg)
	if ok {
		store, err := Store(store)
		return Place{store, ref}, err
	}
	unknown := usage.Errorf("%q is neither AGENT/SESSION nor a path in a mount or a store.\n%s", arg, SessionHelp)
	if badName != nil {
		unknown = usage.Errorf("%q is not AGENT/SESSION: %w", arg, badName)
	}
	m, mounted, err := daemon.MountAround(arg)
	if err != nil {
		return Place{}, err
	}
	abs, err := filepath.Abs(arg)
	if err == nil {
		abs, err = evalExisting(abs)
	}
	if arg == "" || errors.Is(err, os.ErrNotExist) {
		return Place{}, unknown
	}
	if err != nil {
		return Place{}, err
	}
	root := storeAbove(abs)
	if mounted {
		root, store = m.Point, m.Source
	} else if root != "" {
		store = root
	} else {
		return Place{}, unknown
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return Place{}, err
	}
	if _, err := os.Lstat(abs); err == nil {
		rel = sessionPart(rel)
	}
	if ref, err = ctxabi.ParseRef(rel); err != nil {
		return Place{}, usage.Error{Err: err}
	}
	return Place{store, ref}, nil
}

// Sessions returns the sessions that args name, and the store that they are in; without args no
// session, and the store that is meant. It returns a [usage.Error] if they are in several stores,
// and the errors of [Session] and [Store].
func Sessions(args []string, store string) (dir string, wanted []Place, err error) {
	for _, arg := range args {
		at, err := Session(arg, store)
		if err != nil {
			return "", nil, err
		}
		if len(wanted) > 0 && at.Store != dir {
			return "", nil, usage.Errorf("%q is in the store %s, the ones before it in %s: give sessions of one store only", arg, at.Store, dir)
		}
		dir = at.Store
		wanted = append(wanted, at)
	}
	if wanted == nil {
		dir, err = Store(store)
	}
	return dir, wanted, err
}

// namedSession reads the two forms of SESSION that are no path: AGENT/SESSION of the calling user,
// and what the tree calls it. Where arg would be the first but for a name in it, err says what is
// wrong with that.
func namedSession(arg string) (ref ctxabi.Ref, ok bool, err error) {
	if isPath(arg) {
		return ref, false, nil
	}
	if ref, err := ctxabi.ParseRef(arg); err == nil {
		return ref, true, nil
	}
	agent, name, ok := strings.Cut(strings.Trim(arg, "/"), "/")
	if !ok || strings.Contains(name, "/") {
		return ref, false, nil
	}
	if err := cmp.Or(ctxabi.ValidName(agent), ctxabi.ValidName(name)); err != nil {
		return ref, false, err
	}
	return ctxabi.Ref{UID: uint32(os.Getuid()), Agent: agent, Session: name}, true, nil
}

// isPath reports whether SESSION is certainly a path.
func isPath(arg string) bool { return filepath.IsAbs(arg) || strings.HasPrefix(arg, ".") }

// evalExisting resolves the symbolic links of what exists of a path: a session may be still to be made.
func evalExisting(p string) (string, error) {
	for dir := p; ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, strings.TrimPrefix(p, dir)), nil
		}
		if !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", err
		}
	}
}

// sessionPart cuts what follows the session in a path below a root, so that a
// file of the session names it too. One that is not there names nothing.
func sessionPart(rel string) string {
	parts := strings.Split(rel, "/")
	return strings.Join(parts[:min(len(parts), 6)], "/")
}

// Inside reports whether path p is dir or below it. Both are clean and absolute.
func Inside(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// DefaultStore returns the directory of the store of the calling user, /var/lib/ctxfs for root.
func DefaultStore() string {
	if os.Geteuid() == 0 {
		return "/var/lib/ctxfs"
	}
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "."
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "ctxfs")
}

// StoreDir returns the --store flag, or the default store where that is "".
func StoreDir(flag string) string {
	if flag != "" {
		return flag
	}
	return DefaultStore()
}
