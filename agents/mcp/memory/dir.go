package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits, in bytes.
const (
	MaxFile   = 1 << 20  // a file that a command writes
	MaxAnswer = 64 << 10 // a view, before it is cut at a line
	maxRead   = 64 << 20 // a file that is looked at at all
)

// Dir is a directory of memories. It is safe for concurrent use, and shares
// the directory with other processes.
type Dir struct {
	home string // "": nothing is around it that it must not lead out of
	path string
}

// At returns the memories in a directory, which need not exist yet. It is whatever
// its name leads to, a symbolic link too.
func At(dir string) *Dir { return &Dir{path: dir} }

// Of returns the memories of an agent, memory/ of its home. Whoever has the home
// in a container may have put a link there: one that leads out of the home is refused.
func Of(home string) *Dir { return &Dir{home, filepath.Join(home, inHome)} }

// inHome is what the directory is called in an agent's home.
const inHome = "memory"

// root opens the directory.
func (d *Dir) root() (*os.Root, error) {
	if d.home == "" {
		return os.OpenRoot(d.path)
	}
	home, err := os.OpenRoot(d.home)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	r, err := home.OpenRoot(inHome)
	if escapes(err) {
		return nil, refuse("Error: %s is a link that leads out of the agent's home, %s; somebody has put it there", Top, d.home)
	}
	return r, err
}

// escapes reports whether a link or ".." would have led out of a root; os.Root has no sentinel for it.
func escapes(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && strings.Contains(at.Err.Error(), "escapes")
}

// make makes the directory where it is not there, and opens it.
func (d *Dir) make() (*os.Root, error) {
	if d.home == "" {
		if err := os.MkdirAll(d.path, 0o777); err != nil {
			return nil, err
		}
	} else if _, err := os.Lstat(d.path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(d.path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return d.root()
}

// Do carries a command out and gives the answer. An error is a [Refusal], or
// one of the disk.
func (d *Dir) Do(c Command) (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	switch c.Command {
	case "view":
		return d.view(c)
	case "create":
		return d.changed(c.Path, func(r *os.Root, name string) (string, error) { return create(r, name, c) })
	case "str_replace":
		return d.changed(c.Path, func(r *os.Root, name string) (string, error) { return replace(r, name, c) })
	case "insert":
		return d.changed(c.Path, func(r *os.Root, name string) (string, error) { return insert(r, name, c) })
	case "delete":
		return d.changed(c.Path, func(r *os.Root, name string) (string, error) { return remove(r, name, c) })
	}
	return d.changed(c.OldPath, func(r *os.Root, name string) (string, error) { return rename(r, name, c) })
}

// changed runs a command that changes something, alone among all that do.
func (d *Dir) changed(p string, do func(r *os.Root, name string) (string, error)) (string, error) {
	name, err := inside(p)
	if err != nil {
		return "", err
	}
	r, err := d.make()
	if err != nil {
		return "", err
	}
	defer r.Close()
	// The lock is on the directory, which no command replaces. The kernel drops it with the descriptor.
	lock, err := r.Open(".")
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	answer, err := do(r, name)
	if err != nil {
		return "", d.inWords(p, err)
	}
	return answer, nil
}

// inWords returns an error of the file system in the words of the tool.
func (d *Dir) inWords(p string, err error) error {
	var known Refusal
	var at *fs.PathError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case escapes(err):
		return refuse("Error: The path %s leads out of %s", p, Top)
	case errors.As(err, &at):
		return refuse("Error: %s: %v", p, at.Err)
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		return refuse("Error: %s: %v", p, link.Err)
	}
	return refuse("Error: %s: %v", p, err)
}
