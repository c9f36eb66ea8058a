package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/pack/source"
)

// held is a source.Held on its way to a shim; its bytes follow the job.
type held struct {
	Path []byte          `json:"path"`
	Kind source.HeldKind `json:"kind"`
	Exec bool            `json:"exec,omitempty"`
	Size int             `json:"size,omitempty"`
	data []byte
}

// unfitHeld returns why what a command holds makes no sense, or "".
func unfitHeld(cmd source.Command) string {
	if len(cmd.Held) == 0 {
		return ""
	}
	size, names := 0, 0
	for _, h := range cmd.Held {
		size, names = size+len(h.Data), names+len(h.Path)
		if strings.IndexByte(h.Path, 0) >= 0 || !filepath.IsLocal(h.Path) || path.Clean(h.Path) != h.Path {
			return fmt.Sprintf("%q is no path of a file to be held", h.Path)
		}
	}
	switch {
	case size > maxHeld:
		return fmt.Sprintf("the files that it names are larger than %d bytes", maxHeld)
	case names > maxHeldNames:
		return fmt.Sprintf("the names of files in it are longer than %d bytes", maxHeldNames)
	case !filepath.IsAbs(cmd.Root) || strings.IndexByte(cmd.Root, 0) >= 0:
		return "the directory of what is held is not an absolute path"
	}
	return ""
}

// part fills in the bytes of what is held from the end of content, and returns what stands before them: standard input. It
// returns an error if content is too short.
func (j *job) part(content []byte) (stdin []byte, err error) {
	for i := len(j.Held) - 1; i >= 0; i-- {
		h := &j.Held[i]
		at := len(content) - h.Size
		if h.Size < 0 || at < 0 {
			return nil, fmt.Errorf("runner: a job that is cut short")
		}
		content, h.data = content[:at], content[at:]
	}
	if len(content) == 0 {
		return nil, nil
	}
	return content, nil
}

// maxBeside is how many files and directories may lie beside what is held.
const maxBeside = 8192

var (
	errNoMounts = errors.New("the system allows a run no mounts of its own, and others may replace these files")
	errBeside   = fmt.Errorf("more than %d files are beside them; put the scripts into a directory of their own", maxBeside)
)

// hold makes the run find the files of j.Held as they are said there.
//
// A mount over such a file would not do: it goes away when somebody puts another file in the place of the one below
// it, and stays behind when a directory on the way to it is renamed. So a tree of directories that only this run sees is mounted over j.Root, whose own
// root nobody can rename. It has the directories on the way to what is held, and in them the copies, and all
// else that lies there as mounts of what it is. Nobody can change these directories.
func (s *shim) hold(j job) error {
	if len(j.Held) == 0 {
		return nil
	}
	if !s.level.pidNS || !s.level.ownMounts {
		return errNoMounts
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlock: it becomes the user, and ends with this goroutine
		done <- s.holdHere(j)
	}()
	return <-done
}

func (s *shim) holdHere(j job) error {
	root := string(j.Root)
	was, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", root, err)
	}
	defer unix.Close(was)
	gid := s.who.GID
	if !s.who.UserNS {
		gid = credential(s.who.UID, s.who.GID).Gid
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV
	if err := unix.Mount("ctxfs-held", root, "tmpfs", flags, fmt.Sprintf("mode=0700,uid=%d,gid=%d", s.who.UID, gid)); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	now, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", root, err)
	}
	defer unix.Close(now)
	if os.Geteuid() == 0 && !s.who.UserNS {
		if err := lookAs(s.who); err != nil {
			return err
		}
	}
	p := picture{was: was, uid: s.who.UID}
	if err := p.fill("", nodes(j.Held), now); err != nil {
		return err
	}
	if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|flags, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return nil
}

// lookAs makes this thread open files with the rights of a user, and with no others. It may still mount.
func lookAs(who as) error {
	c := credential(who.UID, who.GID)
	groups := make([]int, len(c.Groups))
	for i, g := range c.Groups {
		groups[i] = int(g)
	}
	if err := unix.Setgroups(groups); err != nil { // of this thread
		return fmt.Errorf("setgroups: %w", err)
	}
	unix.SetfsgidRetGid(int(c.Gid))
	unix.SetfsuidRetUid(int(c.Uid))
	uid, _ := unix.SetfsuidRetUid(-1)
	gid, _ := unix.SetfsgidRetGid(-1)
	if uint32(uid) != c.Uid || uint32(gid) != c.Gid {
		return errors.New("the rights of the user cannot be obtained")
	}
	return nil
}

// node is a name on the way to what is held, or what is held.
type node struct {
	held  *held
	below map[string]*node
}

// nodes returns what is held by the parts of its path.
func nodes(list []held) map[string]*node {
	top := &node{}
	for i := range list {
		at := top
		for name := range strings.SplitSeq(string(list[i].Path), "/") {
			if at.below == nil {
				at.below = map[string]*node{}
			}
			if at.below[name] == nil {
				at.below[name] = &node{}
			}
			at = at.below[name]
		}
		at.held = &list[i]
	}
	return top.below
}

// picture makes directories of what lies beneath was.
type picture struct {
	was  int // O_PATH
	uid  uint32
	size int // of what lies beside, so far
}

// fill fills the new directory at to with what lies in the directory rel; names is what is held in there.
func (p *picture) fill(rel string, names map[string]*node, to int) error {
	from, err := beneath.Follow(p.was, rel, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	beside, err := p.names(from)
	if err != nil {
		return err
	}
	for _, name := range beside {
		if names[name] == nil {
			if err := p.beside(from, name, to); err != nil {
				return fmt.Errorf("%s: %w", path.Join(rel, name), err)
			}
		}
	}
	for name, n := range names {
		if err := p.name(path.Join(rel, name), n, to); err != nil {
			return fmt.Errorf("%s: %w", path.Join(rel, name), err)
		}
	}
	return nil
}

// names lists a directory; nothing of one that the user may not list.
func (p *picture) names(dir int) ([]string, error) {
	fd, err := beneath.Open(dir, "", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "directory")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if p.size += len(names); p.size > maxBeside {
		return nil, errBeside
	}
	return names, err
}

// beside shows a file or directory as it is, now and later. One that has gone is left out.
func (p *picture) beside(from int, name string, to int) error {
	fd, err := unix.OpenTree(from, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW|unix.AT_RECURSIVE)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return p.link(fd, name, to)
	}
	return p.attach(fd, &st, name, to)
}

// attach mounts what fd is, a file or a directory, under a new name.
func (p *picture) attach(fd int, st *unix.Stat_t, name string, to int) error {
	var err error
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = unix.Mkdirat(to, name, 0o700)
	} else {
		err = unix.Mknodat(to, name, unix.S_IFREG|0o600, 0)
	}
	if err != nil {
		return err
	}
	return unix.MoveMount(fd, "", to, name, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// link makes a link like the one that fd is.
func (p *picture) link(fd int, name string, to int) error {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err != nil {
		return err
	}
	return unix.Symlinkat(string(buf[:n]), to, name)
}

// name shows what is held, or a directory on the way to it.
func (p *picture) name(rel string, n *node, to int) error {
	name := path.Base(rel)
	if n.held != nil {
		switch n.held.Kind {
		case source.HeldCopy:
			return p.copy(n.held, name, to)
		case source.HeldOwn:
			return p.own(rel, name, to)
		case source.HeldOutput:
			return p.output(rel, name, to)
		}
	}
	fd, err := beneath.Follow(p.was, rel, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil // no directory
	}
	defer unix.Close(fd)
	if len(n.below) == 0 {
		return p.clone(fd, name, to)
	}
	if err := unix.Mkdirat(to, name, 0o700); err != nil {
		return err
	}
	below, err := beneath.Open(to, name, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(below)
	return p.fill(rel, n.below, below)
}

// copy makes a file with the bytes that were looked at.
func (p *picture) copy(h *held, name string, to int) error {
	fd, err := unix.Openat(to, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if _, err := f.Write(h.data); err != nil {
		return err
	}
	mode := fs.FileMode(0o400)
	if h.Exec {
		mode = 0o500
	}
	return f.Chmod(mode)
}

// own shows a file as it is, if it is the user's and nobody else can write it, or a link out of the tree that is the user's.
func (p *picture) own(rel, name string, to int) error {
	fd, err := beneath.Follow(p.was, rel, unix.O_PATH)
	if err != nil {
		if fd, err = beneath.Follow(p.was, rel, unix.O_PATH|unix.O_NOFOLLOW); err != nil {
			return err
		}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK && st.Uid == p.uid:
		return p.link(fd, name, to)
	case kind == unix.S_IFREG && st.Uid == p.uid && st.Mode&0o022 == 0:
		return p.clone(fd, name, to)
	}
	return errors.New("it was changed after it was checked")
}

// output shows the file that a command may write, and makes it before where there is none: the directory takes none any more.
func (p *picture) output(rel, name string, to int) error {
	dir, err := beneath.Follow(p.was, path.Dir(rel), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	switch {
	case err == nil:
		unix.Close(fd)
	case !errors.Is(err, fs.ErrExist):
		return nil // the command is told when it tries
	}
	return p.beside(dir, name, to)
}

// clone shows what an open file is under a new name.
func (p *picture) clone(fd int, name string, to int) error {
	tree, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	var st unix.Stat_t
	if err := unix.Fstat(tree, &st); err != nil {
		return err
	}
	return p.attach(tree, &st, name, to)
}
