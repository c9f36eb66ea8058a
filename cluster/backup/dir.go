package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Folders and files of a directory of backups.
const (
	headFile    = "ctxfs-backup.json"
	lockFile    = "lock"
	objectsDir  = "objects"
	entriesDir  = "entries"
	listsDir    = "lists"
	manifestDir = "backups"
)

// directory is a directory of backups.
type directory struct {
	path string
	lock *os.File // nil: it is only read

	mu   sync.Mutex
	news map[string]bool // folders with new names, which are not synced; guarded by mu
}

// openDir opens a directory of backups for reading. It returns fs.ErrNotExist if it is none.
func openDir(dir string) (*directory, error) {
	if _, err := os.Stat(filepath.Join(dir, headFile)); err != nil {
		return nil, fmt.Errorf("%s is no directory of backups: %w", dir, err)
	}
	return &directory{path: dir}, nil
}

// lockDir opens a directory of backups for writing, and makes it if it is not there. It returns ErrBusy
// if somebody else writes to it, and the error of the disk.
func lockDir(dir string) (*directory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s: %w", ErrBusy, dir, err)
	}
	return &directory{path: dir, lock: f, news: map[string]bool{}}, nil
}

// ErrBusy is the error of a directory to which another process writes a backup.
var ErrBusy = errors.New("another backup to this directory is under way; wait for it")

func (d *directory) close() {
	if d.lock != nil {
		d.lock.Close()
	}
}

func (d *directory) file(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// write makes a file with content, synced, unless one with its size is there, and reports whether it
// did. A file that is there under a name with a hash has the content, or verify finds it. It returns the
// error of the disk.
func (d *directory) write(name string, data []byte) (bool, error) {
	file := d.file(name)
	if fi, err := os.Lstat(file); err == nil && fi.Mode().IsRegular() && fi.Size() == int64(len(data)) {
		return false, nil
	}
	return true, d.replace(name, data)
}

// replace makes a file with content, whole or not at all.
func (d *directory) replace(name string, data []byte) error {
	file := d.file(name)
	d.mu.Lock()
	err := d.makeFolder(filepath.Dir(file))
	d.mu.Unlock()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(d.path, ".new-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.news[filepath.Dir(file)] = true
	return nil
}

// makeFolder makes a folder, and those above it. The caller holds mu.
func (d *directory) makeFolder(dir string) error {
	if d.news[dir] {
		return nil
	}
	if _, err := os.Lstat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.makeFolder(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	d.news[filepath.Dir(dir)] = true
	return nil
}

// settle makes all new names survive the loss of power, and removes what writers before have left half
// done.
func (d *directory) settle() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for dir := range d.news {
		f, err := os.Open(dir)
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			return err
		}
	}
	clear(d.news)
	left, err := filepath.Glob(filepath.Join(d.path, ".new-*"))
	for _, name := range left {
		os.Remove(name)
	}
	return err
}

// read returns the content of a file whose hash is known. It returns ErrDamaged if it has another one,
// or is not there.
func (d *directory) read(name, sha string) ([]byte, error) {
	data, err := os.ReadFile(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is not there", ErrDamaged, name)
	}
	if err == nil && hashOf(data) != sha {
		err = fmt.Errorf("%w: %s has other content than its hash promises", ErrDamaged, name)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// check is read of who needs no content; size is that of the file.
func (d *directory) check(name, sha string, size int64) error {
	f, err := os.Open(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is not there", ErrDamaged, name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err == nil && (n != size || hex.EncodeToString(h.Sum(nil)) != sha) {
		err = fmt.Errorf("%w: %s has other content than its hash promises", ErrDamaged, name)
	}
	return err
}

// object is an object of an owner as a backup has it.
type object struct {
	name string
	size int64
	sha  string
}

// path returns where the object lies in a directory of backups, or engine.ErrInvalid for a name that
// cannot be that of a file there.
func (o object) path(owner string) (string, error) {
	name := path.Join(objectsDir, owner, o.name)
	if !filepath.IsLocal(o.name) || path.Clean(o.name) != o.name {
		return "", fmt.Errorf("%w: object %q of %s", engine.ErrInvalid, o.name, owner)
	}
	return name, nil
}

// encodeList returns a list of objects as a file.
func encodeList(list []object) []byte {
	var b bytes.Buffer
	for _, o := range list {
		fmt.Fprintf(&b, "%s %d %s\n", o.sha, o.size, o.name)
	}
	return b.Bytes()
}

// decodeList returns what encodeList wrote, or ErrDamaged.
func decodeList(data []byte) (list []object, err error) {
	for line := range strings.Lines(string(data)) {
		var o object
		if n, err := fmt.Sscanf(line, "%64s %d %s\n", &o.sha, &o.size, &o.name); n != 3 || err != nil {
			return nil, fmt.Errorf("%w: %.100q in a list of objects", ErrDamaged, line)
		}
		list = append(list, o)
	}
	return list, nil
}

func hashOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
