package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// file is a file of settings, and what ctxfs noted of it when it wrote it.
type file struct {
	name  string // as it is named
	real  string // where its links lead
	there bool
	text  []byte
	mode  fs.FileMode
	uid   int
	gid   int

	missing []string // directories above it that are not there

	note   *note // nil: ctxfs did not write it
	before []byte
	state  string // the note's path, without an ending
}

// note is what is kept of a file that was changed, beside the text that it had before.
type note struct {
	File    string   `json:"file"`
	Made    bool     `json:"made"`           // it was not there before
	Dirs    []string `json:"dirs,omitempty"` // directories that were made for it
	Written string   `json:"written"`        // the hash of what was written
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxSettings bounds what is read of a file, in bytes.
const maxSettings = 64 << 20

// follow returns where the links of a path lead, also where the last one leads to nothing.
func follow(name string) (string, error) {
	for range 40 {
		to, err := os.Readlink(name)
		if err != nil {
			if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
				return filepath.Join(dir, filepath.Base(name)), nil
			}
			return name, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	return "", fmt.Errorf("%s: too many links", name)
}

// readFile reads a file of settings with its note. state is the directory of the notes.
func readFile(name, state string) (f *file, err error) {
	f = &file{name: name, mode: 0o600, uid: -1, gid: -1}
	if f.real, err = follow(name); err != nil {
		return nil, err
	}
	fi, err := os.Stat(f.real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", name)
	case fi.Size() > maxSettings:
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxSettings)
	default:
		f.there, f.mode = true, fi.Mode().Perm()
		if st, ok := fi.Sys().(*syscall.Stat_t); ok {
			f.uid, f.gid = int(st.Uid), int(st.Gid)
		}
		if f.text, err = os.ReadFile(f.real); err != nil {
			return nil, err
		}
	}
	f.missing = missing(filepath.Dir(f.real))
	f.state = filepath.Join(state, filepath.Base(f.real)+"-"+hashOf([]byte(f.real))[:16])
	b, err := os.ReadFile(f.state + ".json")
	if err != nil {
		return f, nil
	}
	var n note
	if json.Unmarshal(b, &n) != nil || n.File != f.real {
		return f, nil
	}
	if !n.Made {
		if f.before, err = os.ReadFile(f.state + ".before"); err != nil {
			return f, nil
		}
	}
	f.note = &n
	return f, nil
}

func isDir(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}

func isFile(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.Mode().IsRegular()
}

// missing returns the directories of a path that are not there, the innermost first.
func missing(dir string) (all []string) {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		all = append(all, dir)
	}
	return all
}

// backup returns where the text is that the file had before.
func (f *file) backup() string { return f.state + ".before" }

// install writes a new text into the file, and before it a note with which it can be undone. clean is the text without what ctxfs has in it.
func (f *file) install(text, clean []byte) error {
	n := note{File: f.real, Made: !f.there, Written: hashOf(text)}
	before := f.text
	if f.note != nil && f.there { // what was there before the first time counts, unless somebody changed the file since
		n.Made, n.Dirs, before = f.note.Made, f.note.Dirs, f.before
		if hashOf(f.text) != f.note.Written {
			before = clean
		}
	}
	if len(f.missing) > 0 {
		n.Dirs = f.missing
		if err := os.MkdirAll(filepath.Dir(f.real), 0o755); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(f.state), 0o700); err != nil {
		return err
	}
	if !n.Made {
		if err := replace(f.backup(), before, 0o600, -1, -1); err != nil {
			return err
		}
	}
	if err := f.keep(n); err != nil {
		return err
	}
	return f.write(text)
}

// keep writes the note.
func (f *file) keep(n note) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return replace(f.state+".json", b, 0o600, -1, -1)
}

// ready returns an error if the file is not the one that was read, or cannot be replaced.
func (f *file) ready() error {
	now, err := os.ReadFile(f.real)
	if f.there && err == nil && !bytes.Equal(now, f.text) || f.there && err != nil || !f.there && err == nil {
		return fmt.Errorf("%s was changed meanwhile, by its program; try again", f.name)
	}
	if f.there && f.mode&0o200 == 0 {
		return fmt.Errorf("%s is write-protected", f.name)
	}
	if err := unix.Access(filepath.Dir(f.real), unix.W_OK); len(f.missing) == 0 && err != nil {
		return &fs.PathError{Op: "write", Path: filepath.Dir(f.real), Err: err}
	}
	return nil
}

// write puts a text in place of the file's, if it is still the one that was read.
func (f *file) write(text []byte) error {
	if err := f.ready(); err != nil {
		return err
	}
	return replace(f.real, text, f.mode, f.uid, f.gid)
}

// remove takes the file away, if it is still the one that was read, and directories that were made for it and are empty.
func (f *file) remove() error {
	if err := f.ready(); err != nil {
		return err
	}
	if err := os.Remove(f.real); err != nil {
		return err
	}
	if f.note != nil {
		for _, dir := range f.note.Dirs {
			if os.Remove(dir) != nil {
				break // somebody uses it
			}
		}
	}
	return nil
}

// forget takes the note away, and the directories around it that are empty: the last one of $HOME/.local is .local.
func (f *file) forget() {
	os.Remove(f.backup())
	os.Remove(f.state + ".json")
	most := 2
	if dir := filepath.Dir(f.state); strings.HasSuffix(dir, "/.local/state/ctxfs/install") {
		most = 4
	}
	for dir, n := filepath.Dir(f.state), 0; n < most && os.Remove(dir) == nil; n++ {
		dir = filepath.Dir(dir)
	}
}

// replace writes a file whole or not at all. An owner of -1 is the caller.
func replace(name string, text []byte, mode fs.FileMode, uid, gid int) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".ctxfs-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(text); err != nil {
		return err
	}
	if fi, statErr := tmp.Stat(); statErr == nil && uid >= 0 {
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && (int(st.Uid) != uid || int(st.Gid) != gid) {
			if err = tmp.Chown(uid, gid); err != nil {
				return err
			}
		}
	}
	if err = tmp.Chmod(mode); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}
