package disk

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// SetAside moves a file of the session in dir, whatever it is, into the quarantine, and gives its
// name there relative to the session. The same file with the same content gets the same name.
// Root.Move is held, or nobody else uses the store; the session may be too damaged to be opened. It
// returns fs.ErrNotExist if there is no such file, and the error of the disk.
func (s *Root) SetAside(dir, rel string, o Owner) (string, error) {
	return s.aside(dir, rel, o, s.FS.Rename)
}

// Exchange puts the file tmp, which is synced, in the place of a file of the session, and the old
// one into the quarantine. The old one is linked there, not moved: whenever the power goes, one of
// both has the name. It returns the error of the disk.
func (s *Root) Exchange(dir, rel, tmp string, o Owner) (string, error) {
	name, err := s.aside(dir, rel, o, s.linkAside)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := s.FS.Rename(tmp, path.Join(dir, rel)); err != nil {
		return "", err
	}
	return name, s.FS.SyncDir(path.Dir(path.Join(dir, rel)))
}

// aside puts a file of the session into the quarantine, as put does.
func (s *Root) aside(dir, rel string, o Owner, put func(from, to string) error) (string, error) {
	to := path.Join(dir, QuarantineDir)
	if err := s.Mkdir(to, o); err != nil {
		return "", err
	}
	name, err := s.putAside(path.Join(dir, rel), to, strings.ReplaceAll(strings.TrimPrefix(rel, "."), "/", "-"), put)
	return path.Join(QuarantineDir, name), err
}

// MoveAside moves a file into a directory, under a name made of base and the file's content. It
// returns fs.ErrNotExist if there is no such file, and the error of the disk.
func (s *Root) MoveAside(file, to, base string) (name string, err error) {
	return s.putAside(file, to, base, s.FS.Rename)
}

func (s *Root) putAside(file, to, base string, put func(from, to string) error) (name string, err error) {
	fi, err := s.FS.Stat(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(NewID()))
	if fi.Mode().IsRegular() {
		if f, err := s.FS.OpenFile(file, 0, 0); err == nil {
			if whole, err := vfs.HashRange(f, 0, fi.Size()); err == nil {
				sum = whole
			}
			f.Close()
		}
	}
	name = fmt.Sprintf("%s-%x", base, sum[:4])
	if err := put(file, path.Join(to, name)); err != nil {
		return "", err
	}
	return name, errors.Join(s.FS.SyncDir(to), s.FS.SyncDir(path.Dir(file)))
}

// linkAside makes to another name of the file from, in the place of what has it. What cannot be
// linked, as a directory, is moved.
func (s *Root) linkAside(from, to string) error {
	fi, err := s.FS.Stat(from)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return s.FS.Rename(from, to)
	}
	if err := s.FS.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.FS.Link(from, to)
}

// ReplaceDamaged replaces the content of a file of the session, moves the old one to the
// quarantine, and reports it. Root.Move is held. It returns the error of the disk.
func (x *Dir) ReplaceDamaged(rel string, data []byte, mode fs.FileMode) error {
	s := x.Root
	tmp := s.TmpName()
	err := vfs.WriteFile(s.FS, tmp, data, mode)
	var o Owner
	if err == nil {
		o, err = x.Owner()
	}
	name := ""
	if err == nil {
		name, err = s.Exchange(x.Dir(), rel, tmp, o)
	}
	if err != nil {
		s.FS.Remove(tmp)
		return vfs.Failed("open", rel, err, "it is damaged and could not be replaced")
	}
	x.Report(ErrorRow{Op: "open", Path: rel, Errno: "EIO", Reason: "it was damaged; its undamaged part was kept, and the old file was moved to " + name})
	return nil
}

// Quarantine copies [from, to) of a file of the session aside, durably, and gives the copy's name
// relative to the session. The same bytes at the same place get the same name, so that a repair
// that was cut short does not pile up. It returns the error of the disk; nothing is left of the
// copy then.
func (x *Dir) Quarantine(f vfs.File, base string, from, to int64) (string, error) {
	s := x.Root
	dir := x.Path(QuarantineDir)
	o, err := x.Owner()
	if err != nil {
		return "", err
	}
	if err := s.Mkdir(dir, o); err != nil {
		return "", err
	}
	sum, err := vfs.HashRange(f, from, to)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s-%d-%x", base, from, sum[:4])
	file := path.Join(dir, name)
	if _, err := s.FS.Stat(file); err == nil {
		return path.Join(QuarantineDir, name), nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	tmp := s.TmpName()
	err = vfs.CopyRange(s.FS, tmp, f, from, to)
	if err == nil {
		err = s.Own(tmp, o, o.FileMode())
	}
	if err == nil {
		err = s.FS.Rename(tmp, file)
	}
	if err == nil {
		err = s.FS.SyncDir(dir)
	}
	if err != nil {
		s.FS.Remove(tmp)
		return "", err
	}
	return path.Join(QuarantineDir, name), nil
}
