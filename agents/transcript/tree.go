package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// Tree is where sessions are reached: a mount, as any client does, or the store
// itself where no daemon serves it.
type Tree interface {
	open(ref ctxabi.Ref) (history, error)   // session.Gone(err) when there is none
	create(ref ctxabi.Ref) (history, error) // with the directories above it
	Close() error
}

// history is a session as import and export see it.
type history interface {
	dir() string
	read(logName string, off int64) (io.ReadCloser, error)
	size(logName string) (int64, error)

	// append commits lines. ctxabi.ErrMalformed and ErrTooLarge say that a record
	// was refused for what it is; of the lines before it some may be in the log.
	append(logName string, lines []byte) error
	sync() error
	lock(wait bool) error // until close: one import at a time; ctxabi.ErrLocked if another is under way and wait is not set

	summaries() ([]savedSummary, error) // versions of the summary, oldest first
	control(rel string) string          // "" where nothing was written, and where it cannot be read
	setControl(rel, text string) error
	children() ([]string, error)
	makeChild(name string) error
	close() error
}

// mountTree is the mountpoint, with a slash at its end.
type mountTree string

func (t mountTree) open(ref ctxabi.Ref) (history, error) {
	h := &mountedHistory{at: string(t) + ref.Path(), logs: map[string]*os.File{}}
	_, err := os.Stat(h.path(ctxabi.MessagesFile))
	return h, err
}

func (t mountTree) create(ref ctxabi.Ref) (history, error) {
	dir := string(t) + ref.Path()
	if _, _, ok := mounts.At(dir); !ok { // directories below a bare mountpoint are no session
		return nil, fmt.Errorf("%s is not mounted any more; mount it and import again", strings.TrimSuffix(string(t), "/"))
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); errors.Is(err, os.ErrExist) {
		return nil, atOnce(dir)
	} else if err != nil {
		return nil, err
	}
	return t.open(ref)
}

func (t mountTree) Close() error { return nil }

type mountedHistory struct {
	at     string
	logs   map[string]*os.File // open for appending
	locked *os.File
}

// atOnce is the error that another import into the session in dir began at the same time.
func atOnce(dir string) error {
	return ctxabi.E("import", dir, ctxabi.ErrLocked, "another import into %s is under way; import again when it is done", dir)
}

func (h *mountedHistory) lock(wait bool) (err error) {
	if h.locked, err = os.Open(h.path(ctxabi.MessagesFile)); err != nil {
		return err
	}
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	if err := unix.Flock(int(h.locked.Fd()), how); err != nil {
		return atOnce(h.at)
	}
	return nil
}

func (h *mountedHistory) dir() string            { return h.at }
func (h *mountedHistory) path(rel string) string { return filepath.Join(h.at, rel) }

func (h *mountedHistory) read(logName string, off int64) (io.ReadCloser, error) {
	f, err := os.Open(h.path(logName))
	if err == nil {
		_, err = f.Seek(off, io.SeekStart)
	}
	return f, err
}

func (h *mountedHistory) size(logName string) (int64, error) {
	fi, err := os.Stat(h.path(logName))
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

func (h *mountedHistory) append(logName string, lines []byte) (err error) {
	f := h.logs[logName]
	if f == nil {
		if f, err = os.OpenFile(h.path(logName), os.O_WRONLY|os.O_APPEND, 0); err != nil {
			return err
		}
		h.logs[logName] = f
	}
	if _, err = f.Write(lines); err == nil {
		return nil
	}
	rows := strings.Split(strings.TrimSpace(h.control(ctxabi.ErrorsFile)), "\n")
	row := gjson.Parse(rows[len(rows)-1])
	for name, kind := range map[string]error{"EINVAL": ctxabi.ErrMalformed, "EMSGSIZE": ctxabi.ErrTooLarge} {
		if row.Get("errno").Str == name && row.Get("path").Str == logName {
			return ctxabi.E("append", logName, kind, "%s", row.Get("reason").Str)
		}
	}
	return mounts.Refused(h.at, err)
}

func (h *mountedHistory) sync() (err error) {
	for _, f := range h.logs {
		err = cmp.Or(err, f.Sync())
	}
	return err
}

func (h *mountedHistory) control(rel string) string {
	b, err := os.ReadFile(h.path(rel))
	if err != nil {
		return ""
	}
	return string(b)
}

func (h *mountedHistory) setControl(rel, text string) error {
	if err := os.WriteFile(h.path(rel), []byte(text), 0o600); err != nil {
		return mounts.Refused(h.at, err)
	}
	return nil
}

func (h *mountedHistory) children() (names []string, err error) {
	entries, err := os.ReadDir(h.path(ctxabi.ChildDir))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (h *mountedHistory) makeChild(name string) error {
	if err := os.Mkdir(h.path(ctxabi.ChildPath(name)), 0o700); err != nil {
		return mounts.Refused(h.at, err)
	}
	return nil
}

func (h *mountedHistory) close() (err error) {
	for _, f := range h.logs {
		err = cmp.Or(err, f.Close())
	}
	if h.locked != nil {
		err = cmp.Or(err, h.locked.Close())
	}
	return err
}

// Mounted returns the tree of the mount at mountpoint.
func Mounted(mountpoint string) Tree { return mountTree(strings.TrimSuffix(mountpoint, "/") + "/") }

// Stored returns the tree of a store that no daemon serves, or that is only read. owner returns who owns a session that is made.
// Close of the tree closes the store.
func Stored(store *session.Store, owner func(ctxabi.Ref) (disk.Owner, error)) Tree {
	return storeTree{store, owner}
}

type storeTree struct {
	store *session.Store
	owner func(ctxabi.Ref) (disk.Owner, error)
}

func (t storeTree) open(ref ctxabi.Ref) (history, error) {
	x, err := t.store.Session(ref)
	return storedHistory{x}, err
}

func (t storeTree) create(ref ctxabi.Ref) (history, error) {
	owner, err := t.owner(ref)
	if err != nil {
		return nil, err
	}
	x, err := t.store.Create(ref, owner)
	return storedHistory{x}, err
}

func (t storeTree) Close() error { return t.store.Close() }

type storedHistory struct{ *session.Session }

func (h storedHistory) log(name string) *log.Log {
	if name == ctxabi.EventsFile {
		return h.Events()
	}
	return h.Messages()
}

func (h storedHistory) dir() string { return h.Dir() }

func (h storedHistory) read(logName string, off int64) (io.ReadCloser, error) {
	l := h.log(logName)
	err := l.Open()
	return io.NopCloser(io.NewSectionReader(l, off, l.Len()-off)), err
}

func (h storedHistory) size(logName string) (int64, error) {
	return h.log(logName).Len(), h.log(logName).Open()
}

func (h storedHistory) append(logName string, lines []byte) error {
	_, err := h.log(logName).Append(context.Background(), log.Batch{Data: lines,
		Writer: disk.Writer{UID: uint32(os.Getuid()), PID: uint32(os.Getpid())}})
	return err
}

func (h storedHistory) sync() error {
	return cmp.Or(h.Messages().Sync(context.Background()), h.Events().Sync(context.Background()))
}

func (h storedHistory) control(rel string) string {
	b, err := h.Control(rel)
	if err != nil {
		return ""
	}
	return string(b)
}

func (h storedHistory) setControl(rel, text string) error { return h.SetControl(rel, []byte(text)) }

func (h storedHistory) children() (names []string, err error) {
	children, err := h.Children()
	for _, c := range children {
		names = append(names, c.Name)
	}
	return names, err
}

func (h storedHistory) lock(bool) error             { return nil } // the store is
func (h storedHistory) makeChild(name string) error { return h.MakeChild(name) }
func (h storedHistory) close() error                { return nil }

// eachRecord calls do with the records of a log from an offset on, without
// their newlines. Their bytes are do's.
func eachRecord(h history, logName string, off int64, do func(line []byte) error) error {
	r, err := h.read(logName, off)
	if err != nil {
		if errors.Is(err, iofs.ErrNotExist) {
			return nil
		}
		return err
	}
	defer r.Close()
	b := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := b.ReadBytes('\n')
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// childRef is the session that a child of h is linked to.
func childRef(h history, of ctxabi.Ref, name string) (ref ctxabi.Ref, ok bool) {
	of.Agent = strings.TrimSpace(h.control(ctxabi.ChildPath(name, ctxabi.ChildAgent)))
	of.Session = strings.TrimSpace(h.control(ctxabi.ChildPath(name, ctxabi.ChildSession)))
	return of, of.Agent != "" && of.Session != ""
}
