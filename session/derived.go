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

// Derived reads derived content, given by a name like "recipe.json" or
// "outputs/3f2a". fs.ErrNotExist when it is absent, torn or of another format.
func (x *Session) Derived(name string) ([]byte, error) {
	rel, err := derivedName("read", name)
	if err != nil {
		return nil, err
	}
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	raw, err := vfs.ReadFile(x.store.disk.FS, x.dir.Path(rel))
	if err != nil {
		return nil, err
	}
	data, ok := DerivedContent(raw)
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: rel, Err: fs.ErrNotExist}
	}
	return data, nil
}

// SetDerived replaces derived content atomically, making its directory. It
// fails with ctxabi.ErrReadOnly where the store is open for reading only.
func (x *Session) SetDerived(name string, data []byte) error {
	rel, err := x.changeDerived("set", name)
	if err != nil {
		return err
	}
	s := x.store
	s.disk.Move.RLock()
	defer s.disk.Move.RUnlock()
	tmp := s.disk.TmpName()
	err = s.writeDerived(tmp, data)
	if err == nil {
		err = x.inDerivedDir(rel, func(file string) error { return s.disk.FS.Rename(tmp, file) })
	}
	if err != nil {
		s.disk.FS.Remove(tmp)
		return vfs.Failed("set", rel, err, "it was not stored")
	}
	return nil
}

// inDerivedDir calls put with the path of derived content, in whose directory it is to put it, and
// makes that: again, where it was swept before put found it. Root.Move is held.
func (x *Session) inDerivedDir(rel string, put func(file string) error) error {
	v, dir := x.store.disk.FS, path.Dir(rel)
	for {
		if dir != ctxabi.InternalDir {
			if err := v.Mkdir(x.dir.Path(dir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		err := put(x.dir.Path(rel))
		if !errors.Is(err, fs.ErrNotExist) || dir == ctxabi.InternalDir {
			return err
		}
		if _, gone := v.Stat(x.dir.Path(dir)); !errors.Is(gone, fs.ErrNotExist) {
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

// RemoveDerived removes derived content; it is no error when there is none.
func (x *Session) RemoveDerived(name string) error {
	rel, err := x.changeDerived("remove", name)
	if err != nil {
		return err
	}
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	if err := x.store.disk.FS.Remove(x.dir.Path(rel)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return vfs.Failed("remove", rel, err, "it was not removed")
	}
	return nil
}

func (x *Session) changeDerived(op, name string) (string, error) {
	if err := x.store.disk.Writable(op); err != nil {
		return "", err
	}
	return derivedName(op, name)
}

// DerivedNames lists the derived content in dir ("outputs") as names for
// Derived, in order; none when there is no such directory.
func (x *Session) DerivedNames(dir string) []string {
	rel, err := derivedName("list", dir)
	if err != nil {
		return nil
	}
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	entries, _ := x.store.disk.FS.ReadDir(x.dir.Path(rel))
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, dir+"/"+e.Name())
		}
	}
	return names
}
