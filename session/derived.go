package session

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Derived content is what ctxfs made and can make again: the outputs of
// generators, the last good recipe. It stands in the session's internal
// directory, which the mount does not show, belongs to the daemon alone, and
// begins with a line of its length and CRC-32C:
//
//	ctxfs derived 1 0000001f 9a3cf0b1
//
// Nothing is synced: what lost power tore does not fit its line and counts as absent.
const derivedMagic = "ctxfs derived 1 "

// DerivedHeader is the length of that line, in bytes, with its end.
const DerivedHeader = len(derivedMagic) + 8 + 1 + 8 + 1

func derivedLine(data []byte) []byte {
	return fmt.Appendf(nil, "%s%08x %08x\n", derivedMagic, len(data), crc32.Checksum(data, vfs.Castagnoli))
}

// DerivedContent returns the content after the first line of a file of derived content; ok is false
// if that line's length or checksum does not match the content.
func DerivedContent(raw []byte) (data []byte, ok bool) {
	if len(raw) < DerivedHeader || !bytes.Equal(raw[:DerivedHeader], derivedLine(raw[DerivedHeader:])) {
		return nil, false
	}
	return raw[DerivedHeader:], true
}

// derivedName checks that name is "name" or "dir/name", and gives its path in the session.
func derivedName(op, name string) (string, error) {
	if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." || strings.Count(name, "/") > 1 {
		return "", ctxabi.E(op, name, ctxabi.ErrMalformed, "it is not the name of derived content")
	}
	return ctxabi.InternalDir + "/" + name, nil
}

// derivedIn is a directory in whose [ctxabi.InternalDir] derived content is kept: that of a session,
// or that of an owner ([Owned]).
type derivedIn struct {
	s     *Store
	path  func(rel string) string // absolute; Root.Move is held
	ready func() error            // makes sure of the internal directory before something is written; nil: it is there
}

func (x *Session) derived() derivedIn {
	return derivedIn{s: x.store, path: func(rel string) string { return x.dir.Path(rel) }}
}

// Derived reads derived content, given by a name like "recipe.json" or
// "outputs/3f2a". fs.ErrNotExist when it is absent, torn or of another format.
func (x *Session) Derived(name string) ([]byte, error) { return x.derived().read(name) }

// SetDerived replaces derived content atomically, making its directory. It
// fails with ctxabi.ErrReadOnly where the store is open for reading only.
func (x *Session) SetDerived(name string, data []byte) error { return x.derived().set(name, data) }

// RemoveDerived removes derived content; it is no error when there is none.
func (x *Session) RemoveDerived(name string) error { return x.derived().remove(name) }

// DerivedNames lists the derived content in dir ("outputs") as names for
// Derived, in order; none when there is no such directory.
func (x *Session) DerivedNames(dir string) []string { return x.derived().names(dir) }

func (d derivedIn) read(name string) ([]byte, error) {
	rel, err := derivedName("read", name)
	if err != nil {
		return nil, err
	}
	d.s.disk.Move.RLock()
	defer d.s.disk.Move.RUnlock()
	raw, err := vfs.ReadFile(d.s.disk.FS, d.path(rel))
	if err != nil {
		return nil, err
	}
	data, ok := DerivedContent(raw)
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: rel, Err: fs.ErrNotExist}
	}
	return data, nil
}

func (d derivedIn) set(name string, data []byte) error {
	rel, err := d.change("set", name)
	if err != nil {
		return err
	}
	s := d.s
	s.disk.Move.RLock()
	defer s.disk.Move.RUnlock()
	tmp := s.disk.TmpName()
	err = s.writeDerived(tmp, data)
	if err == nil {
		err = d.inDir(rel, func(file string) error { return s.disk.FS.Rename(tmp, file) })
	}
	if err != nil {
		s.disk.FS.Remove(tmp)
		return vfs.Failed("set", rel, err, "it was not stored")
	}
	return nil
}

// inDir calls put with the path of derived content, in whose directory it is to put it, and
// makes that: again, where it was swept before put found it. Root.Move is held.
func (d derivedIn) inDir(rel string, put func(file string) error) error {
	if d.ready != nil {
		if err := d.ready(); err != nil {
			return err
		}
	}
	v, dir := d.s.disk.FS, path.Dir(rel)
	for {
		if dir != ctxabi.InternalDir {
			if err := v.Mkdir(d.path(dir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		err := put(d.path(rel))
		if !errors.Is(err, fs.ErrNotExist) || dir == ctxabi.InternalDir {
			return err
		}
		if _, gone := v.Stat(d.path(dir)); !errors.Is(gone, fs.ErrNotExist) {
			return err
		}
	}
}

func (s *Store) writeDerived(name string, data []byte) error {
	f, err := s.disk.FS.OpenFile(name, vfs.Create, 0o600)
	if err != nil {
		return err
	}
	if err := vfs.WriteFull(f, append(derivedLine(data), data...)); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (d derivedIn) remove(name string) error {
	rel, err := d.change("remove", name)
	if err != nil {
		return err
	}
	d.s.disk.Move.RLock()
	defer d.s.disk.Move.RUnlock()
	if err := d.s.disk.FS.Remove(d.path(rel)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return vfs.Failed("remove", rel, err, "it was not removed")
	}
	return nil
}

func (x *Session) changeDerived(op, name string) (string, error) { return x.derived().change(op, name) }

func (d derivedIn) change(op, name string) (string, error) {
	if err := d.s.disk.Writable(op); err != nil {
		return "", err
	}
	return derivedName(op, name)
}

func (d derivedIn) names(dir string) []string {
	rel, err := derivedName("list", dir)
	if err != nil {
		return nil
	}
	d.s.disk.Move.RLock()
	defer d.s.disk.Move.RUnlock()
	entries, _ := d.s.disk.FS.ReadDir(d.path(rel))
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, dir+"/"+e.Name())
		}
	}
	return names
}
