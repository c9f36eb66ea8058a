package check

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// CheckedFile is a file of a session that is checked.
type CheckedFile struct {
	Rel  string // its path in the session
	t    *sessionTree
	info fs.FileInfo
	kind *FileKind
}

// damaged is what it means that the file does not hold what was written, and the remedy where
// nothing of it is whole.
func (f *CheckedFile) damaged() (Severity, Remedy) {
	if f.kind.Class == Cache {
		return Rebuildable, f.Remove()
	}
	return Lost, f.SetAside()
}

func (f *CheckedFile) path() string { return path.Join(f.t.dir, f.Rel) }

// Session is the id of the session that the file belongs to; "" when that is damaged.
func (f *CheckedFile) Session() string { return f.t.id() }

// Data is what the file holds. A file that cannot be read is reported.
func (f *CheckedFile) Data() (data []byte, ok bool) {
	data, err := vfs.ReadFile(f.t.c.s.Disk().FS, f.path())
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return nil, false
	}
	if err != nil {
		f.Report(Lost, NoRemedy, "it cannot be read: %v", err)
		return nil, false
	}
	return data, true
}

// Report notes that something is wrong with the file. A repair does r: [CheckedFile.Remove],
// [CheckedFile.Rewrite] or [CheckedFile.SetAside].
func (f *CheckedFile) Report(sev Severity, r Remedy, format string, args ...any) {
	f.t.c.report(path.Join(f.t.rel, f.Rel), sev, r, format, args...)
}

// Remove is the remedy for a cache: it is removed, and made again when it is needed.
func (f *CheckedFile) Remove() Remedy {
	return Remedy{"removed; it is rebuilt when it is needed", func() error {
		s := f.t.c.s
		s.Disk().RemoveAll(f.path())
		return s.Disk().FS.SyncDir(path.Dir(f.path()))
	}}
}

// SetAside is the remedy for a file that is not a cache: it is moved to the quarantine.
func (f *CheckedFile) SetAside() Remedy { return f.t.aside(f.Rel) }

// Rewrite is the remedy that writes the undamaged part data of a file and moves the damaged file to
// the quarantine.
func (f *CheckedFile) Rewrite(data []byte) Remedy {
	return f.rewrite(vfs.Contents(data))
}

// rewrite is Rewrite with what is whole as fill writes it.
func (f *CheckedFile) rewrite(fill func(w vfs.File) error) Remedy {
	return Remedy{"the undamaged part was kept; the damaged file was moved to the quarantine", func() error {
		s := f.t.c.s
		tmp := s.Disk().TmpName()
		o, _ := f.t.ownerOf(f.info)
		err := vfs.WriteFileFunc(s.Disk().FS, tmp, f.info.Mode().Perm(), fill)
		if err == nil {
			err = s.Disk().Own(tmp, o, f.info.Mode())
		}
		if err == nil {
			_, err = s.Disk().Exchange(f.t.dir, f.Rel, tmp, f.t.owner)
		}
		if err != nil {
			s.Disk().FS.Remove(tmp)
		}
		return err
	}}
}

// sessionTree is the directory of a session that is checked.
type sessionTree struct {
	c     *checker
	ref   ctxabi.Ref
	dir   string // absolute
	rel   string // in the store
	owner disk.Owner
	other uint32 // the uid that serves the store: what it makes for itself may be its own
}

// aside is the remedy that moves something to the session's quarantine.
func (t *sessionTree) aside(rel string) Remedy {
	return Remedy{"moved to the quarantine", func() error {
		_, err := t.c.s.Disk().SetAside(t.dir, rel, t.owner)
		return err
	}}
}

func (t *sessionTree) ownerOf(fi fs.FileInfo) (disk.Owner, bool) {
	o := t.owner
	uid, gid, ok := vfs.OwnerOf(fi)
	if ok {
		o.UID, o.GID = uid, gid
	}
	return o, ok
}

// report is checker.report for a file of the session.
func (t *sessionTree) report(rel string, sev Severity, r Remedy, format string, args ...any) {
	t.c.report(path.Join(t.rel, rel), sev, r, format, args...)
}

// id is the session's id as its file says; "" when it says none.
func (t *sessionTree) id() string {
	raw, err := vfs.ReadFile(t.c.s.Disk().FS, path.Join(t.dir, disk.IDFile))
	if id := strings.TrimSpace(string(raw)); err == nil && isID(id) {
		return id
	}
	return ""
}

func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 16
}

// typeOf names what kind of file it is.
func typeOf(fi fs.FileInfo) string {
	switch mode := fi.Mode(); {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return fmt.Sprintf("a file of mode %v", fi.Mode())
}
