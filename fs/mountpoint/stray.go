package mountpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
)

// Foreign returns a name in the directory dir that a mount would not show, or "" if there is none.
// It takes all other files for writes of programs that expected the mount. It returns an error if
// it cannot list dir.
func Foreign(dir string) (string, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer r.Close()
	owner := func(name string, top string) bool {
		if top == ctxabi.SharedDir {
			return ctxabi.ValidName(name) == nil
		}
		_, ok := ctxabi.ParseUID(name)
		return ok
	}
	list := func(name string) ([]fs.DirEntry, error) {
		entries, err := fs.ReadDir(r.FS(), name)
		if errors.Is(err, fs.ErrPermission) && name != "." { // written by another user who expected the mount
			err = nil
		}
		return entries, err
	}
	tops, err := list(".")
	for _, top := range tops {
		if !top.IsDir() || top.Name() != ctxabi.HomeDir && top.Name() != ctxabi.SharedDir {
			return top.Name(), nil
		}
		owners, err := list(top.Name())
		if err != nil {
			return "", err
		}
		for _, o := range owners {
			name := path.Join(top.Name(), o.Name())
			if !o.IsDir() || !owner(o.Name(), top.Name()) {
				return name, nil
			}
			entries, err := list(name)
			if err != nil {
				return "", err
			}
			for _, e := range entries {
				if !slices.Contains(ofOwners, e.Name()) {
					return path.Join(name, e.Name()), nil
				}
			}
		}
	}
	return "", err
}

// ofOwners lists the names that a mount shows in the directory of a user or a space.
var ofOwners = []string{ctxabi.AgentDir, ctxabi.ProjectsDir, ctxabi.TrustFile}

// root opens the directory itself, not the mount on top of it.
func (b *Bare) root() (*os.Root, error) {
	return os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", b.file.Fd()))
}

// Collect moves stray files from the directory, which is now below the mount, to a new directory in
// [session.StrayDir] of the store. It returns the new directory, or "" if there is nothing to move.
// Files keep their owners. On an error, the remaining files stay hidden below the mount.
func (b *Bare) Collect() (to string, err error) {
	r, err := b.root()
	if err != nil {
		return "", err
	}
	defer r.Close()
	prune(r, ".")
	tops, err := fs.ReadDir(r.FS(), ".")
	if err != nil || len(tops) == 0 {
		return "", err
	}
	if to, err = newStray(b.store); err != nil {
		return "", err
	}
	setImmutable(b.file, false) // fails if the file system has no such flag
	for _, top := range tops {
		err = errors.Join(err, b.move(r, top.Name(), to))
	}
	return to, errors.Join(err, b.file.Sync())
}

// newStray creates the target directory of one Collect.
func newStray(store string) (string, error) {
	all := filepath.Join(store, session.StrayDir)
	if err := os.Mkdir(all, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	name := time.Now().UTC().Format("20060102-150405")
	for n := 1; ; n++ {
		to := filepath.Join(all, name)
		if n > 1 {
			to += fmt.Sprintf(".%d", n)
		}
		if err := os.Mkdir(to, 0o700); !errors.Is(err, fs.ErrExist) {
			return to, err
		}
	}
}

// prune removes the directories below dir that contain no file. The programs that created them no
// longer write there.
func prune(r *os.Root, dir string) {
	entries, _ := fs.ReadDir(r.FS(), dir)
	for _, e := range entries {
		if e.IsDir() {
			name := path.Join(dir, e.Name())
			prune(r, name)
			r.Remove(name)
		}
	}
}

// move moves name from the directory r to the directory to. It copies if to is on another disk.
func (b *Bare) move(r *os.Root, name, to string) error {
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	into, err := os.Open(to)
	if err != nil {
		return err
	}
	defer into.Close()
	err = unix.Renameat(int(b.file.Fd()), name, int(into.Fd()), name)
	if errors.Is(err, unix.EXDEV) {
		if err = copyTree(r, dst, name); err == nil {
			if err = removeCopied(r, dst, name); err == nil {
				err = r.RemoveAll(name)
			}
		}
	}
	return errors.Join(err, into.Sync())
}

// copyTree copies name with owners and permissions. It does not follow links, and it skips
// everything other than files, directories, and links.
func copyTree(from, to *os.Root, name string) error {
	fi, err := from.Lstat(name)
	if err != nil {
		return err
	}
	switch mode := fi.Mode(); {
	case mode.IsDir():
		if err := to.Mkdir(name, 0o700); err != nil {
			return err
		}
		entries, err := fs.ReadDir(from.FS(), name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := copyTree(from, to, path.Join(name, e.Name())); err != nil {
				return err
			}
		}
	case mode.IsRegular():
		if err := copyRest(from, to, name); err != nil {
			return err
		}
	case mode&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
		if err == nil {
			err = to.Symlink(target, name)
		}
		return err
	default:
		return nil
	}
	if uid, gid, ok := vfs.OwnerOf(fi); ok && os.Geteuid() == 0 {
		if err := to.Lchown(name, int(uid), int(gid)); err != nil {
			return err
		}
	}
	if err := to.Chmod(name, fi.Mode().Perm()); err != nil || !fi.IsDir() {
		return err
	}
	d, err := to.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// copyRest appends the missing tail of a file to its copy and syncs the copy.
func copyRest(from, to *os.Root, name string) error {
	src, err := from.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer dst.Close()
	at, err := dst.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = src.Seek(at, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(dst, src)
	}
	if err == nil {
		err = dst.Sync()
	}
	return err
}

// removeCopied removes the copied files below name. If a program appended to a file in the
// meantime, removeCopied copies the new tail first.
func removeCopied(from, to *os.Root, name string) error {
	return fs.WalkDir(from.FS(), name, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if err = copyRest(from, to, name); err == nil {
				err = from.Remove(name)
			}
		}
		return err
	})
}

// Stray is a session that programs wrote into a bare directory.
type Stray struct {
	Files   []string // its logs, absolute
	Session string   // the path of the session in a mount: home/1000/agent/coder/session/s1
	Child   string   // the names of the child in it, from the outside: "", "review", "review/tests"
	Records int      // lines of the logs
}

// Strays returns the sessions with records below dir, which has the layout of a mount. It omits
// files that it cannot read.
func Strays(dir string) (found []Stray) {
	filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() != ctxabi.MessagesFile && e.Name() != ctxabi.EventsFile {
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil || len(b) == 0 {
			return nil
		}
		lines := strings.Count(strings.TrimSuffix(string(b), "\n"), "\n") + 1
		if n := len(found); n > 0 && filepath.Dir(found[n-1].Files[0]) == filepath.Dir(name) {
			found[n-1].Files = append(found[n-1].Files, name)
			found[n-1].Records += lines
			return nil
		}
		rel, _ := filepath.Rel(dir, filepath.Dir(name))
		parts := strings.Split(rel, "/")
		s := Stray{Files: []string{name}, Records: lines, Session: path.Join(parts[:min(len(parts), 6)]...)}
		if len(parts) > 6 {
			s.Child = strings.ReplaceAll(strings.TrimPrefix(path.Join(parts[6:]...), "context/child/"), "/context/child/", "/")
		}
		found = append(found, s)
		return nil
	})
	return found
}
