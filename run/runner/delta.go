package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/pack/source"
)

// delta is a source.Delta on its way to a launcher.
type delta struct {
	Run     []byte `json:"run"`
	Journal []byte `json:"journal"`
	Make    bool   `json:"make,omitempty"`
}

// Names in .delta, as Delta Engine has them.
const (
	deltaJournal = "journal.jsonl"
	deltaLatest  = "LATEST"
)

// put puts the journal of d in place, in the working directory and as the user that this process is. It follows no link, and
// leaves alone what is not a link to the journal of a session of that name, which is an error, as is that there is no .delta and none is
// to be made.
func (d *delta) put() error {
	if d.Make {
		if err := unix.Mkdir(source.DeltaDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW
	top, err := beneath.At(unix.AT_FDCWD, source.DeltaDir, flags, 0)
	if err != nil {
		return err
	}
	defer unix.Close(top)
	run := string(d.Run)
	if err := unix.Mkdirat(top, run, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	dir, err := beneath.At(top, run, flags, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	return errors.Join(d.link(dir), d.latest(top))
}

// link makes the link to the journal in dir, or turns one there that leads to another session of the same name.
func (d *delta) link(dir int) error {
	err := unix.Symlinkat(string(d.Journal), dir, deltaJournal)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	switch journalOf(dir, string(d.Run)) {
	case string(d.Journal):
		return nil
	case "":
		return fmt.Errorf("a %s exists that does not belong to a session; it stays", deltaJournal)
	}
	return replace(dir, deltaJournal, func(name string) error { return unix.Symlinkat(string(d.Journal), dir, name) })
}

// latest writes which run the latest is to the directory top, unless it says so already or names a run that is not of ctxfs.
func (d *delta) latest(top int) error {
	run := string(d.Run)
	if fd, err := beneath.At(top, deltaLatest, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0); err == nil {
		was := firstWord(fd)
		unix.Close(fd)
		if was == run || strings.Contains(was, "/") {
			return nil
		}
		dir, err := beneath.At(top, was, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			return nil // it is of somebody else
		}
		defer unix.Close(dir)
		if journalOf(dir, was) == "" {
			return nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return replace(top, deltaLatest, func(name string) error {
		fd, err := beneath.At(top, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), name)
		_, err = f.WriteString(run + "\n")
		return errors.Join(err, f.Close())
	})
}

// firstWord returns what a small regular file says, without space around it; "" for any other file.
func firstWord(fd int) string {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	b := make([]byte, 256)
	n, err := unix.Read(fd, b)
	if err != nil || n == len(b) {
		return ""
	}
	return strings.TrimSpace(string(b[:n]))
}

// journalOf returns where the link to the journal in dir leads if that is a session called run; else "".
func journalOf(dir int, run string) string {
	b := make([]byte, maxPath)
	n, err := unix.Readlinkat(dir, deltaJournal, b)
	if err != nil || n == len(b) || !strings.HasSuffix(string(b[:n]), "/"+run+"/context/"+deltaJournal) {
		return ""
	}
	return string(b[:n])
}

// replace calls create with a name that is free in dir, and renames that file to name.
func replace(dir int, name string, create func(name string) error) error {
	tmp := fmt.Sprintf(".%s-%d", name, time.Now().UnixNano())
	err := create(tmp)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if err == nil {
		err = unix.Renameat(dir, tmp, dir, name)
	}
	if err != nil {
		unix.Unlinkat(dir, tmp, 0)
	}
	return err
}
