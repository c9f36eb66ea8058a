package check

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// sessionTree is the directory of a session that is checked.
type sessionTree struct {
	c     *checker
	ref   ctxabi.Ref
	dir   string // absolute
	rel   string // in the store
	owner disk.Owner
	other uint32 // the uid that serves the store: what it makes for itself may be its own
}

// CheckedFile is a file of a session that is checked.
type CheckedFile struct {
	Rel  string // its path in the session
	t    *sessionTree
	info fs.FileInfo
	kind *FileKind
}

// damaged is what it means that the file does not hold what was written, and the remedy where nothing of it is whole.
func (f *CheckedFile) damaged() (Severity, Remedy) {
	if f.kind.Class == Cache {
		return Rebuildable, f.Remove()
	}
	return Lost, f.SetAside()
}

func (f *CheckedFile) path() string { return path.Join(f.t.dir, f.Rel) }

// Session is the id of the session that the file belongs to; "" when that is damaged.
func (f *CheckedFile) Session() string { return f.t.id() }

// Path is the file's absolute name.
func (f *CheckedFile) Path() string { return f.path() }

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

// Report notes that something is wrong with the file. A repair does r: [CheckedFile.Remove], [CheckedFile.Rewrite] or [CheckedFile.SetAside].
func (f *CheckedFile) Report(sev Severity, r Remedy, format string, args ...any) {
	f.t.c.report(path.Join(f.t.rel, f.Rel), sev, r, format, args...)
}

// Remove is the remedy for a cache: it is removed, and made again when it is needed.
func (f *CheckedFile) Remove() Remedy {
	return Remedy{"removed; it is made again when it is needed", func() error {
		s := f.t.c.s
		s.Disk().RemoveAll(f.path())
		return s.Disk().FS.SyncDir(path.Dir(f.path()))
	}}
}

// SetAside is the remedy for anything that is no cache: it is moved to the quarantine.
func (f *CheckedFile) SetAside() Remedy { return f.t.aside(f.Rel) }

// Rewrite is the remedy for a file of which data is whole: the damaged one is moved to the quarantine.
func (f *CheckedFile) Rewrite(data []byte) Remedy {
	return f.rewrite(vfs.Contents(data))
}

// rewrite is Rewrite with what is whole as fill writes it.
func (f *CheckedFile) rewrite(fill func(w vfs.File) error) Remedy {
	return Remedy{"what is whole was kept, the damaged file moved to the quarantine", func() error {
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

// skeleton looks at the directories without which the rest has no place.
func (t *sessionTree) skeleton() {
	for _, rel := range []string{ctxabi.InternalDir, ctxabi.ContextDir, ctxabi.PinnedDir} {
		t.wantDir(rel, Rebuildable)
	}
	if fi, err := t.c.s.Disk().FS.Stat(path.Join(t.dir, disk.QuarantineDir)); err == nil && !fi.IsDir() {
		t.wantDir(disk.QuarantineDir, Odd)
	}
}

// wantDir makes a directory where there is none. What stands in its place is moved to the quarantine, once there can be one.
func (t *sessionTree) wantDir(rel string, sev Severity) {
	s := t.c.s
	name := path.Join(t.dir, rel)
	fi, err := s.Disk().FS.Stat(name)
	if err == nil && fi.IsDir() {
		return
	}
	if errors.Is(err, fs.ErrNotExist) {
		t.report(rel, sev, Remedy{"made anew", func() error { return s.Disk().Mkdir(name, t.owner) }}, "the directory is missing")
		return
	}
	if err != nil {
		t.report(rel, Lost, NoRemedy, "it cannot be looked at: %v", err)
		return
	}
	t.report(rel, sev, Remedy{"moved to the quarantine, and the directory made anew", func() error {
		tmp := s.Disk().TmpName()
		err := s.Disk().FS.Rename(name, tmp)
		if err == nil {
			err = s.Disk().Mkdir(name, t.owner)
		}
		if err == nil {
			err = s.Disk().Mkdir(path.Join(t.dir, ctxabi.InternalDir), t.owner)
		}
		if err == nil {
			err = s.Disk().Mkdir(path.Join(t.dir, disk.QuarantineDir), t.owner)
		}
		if err == nil {
			_, err = s.Disk().MoveAside(tmp, path.Join(t.dir, disk.QuarantineDir), path.Base(rel))
		}
		return err
	}}, "it is %s, and must be a directory", typeOf(fi))
}

// walk looks at all files of a directory of the session.
func (t *sessionTree) walk(dir string) {
	v := t.c.s.Disk().FS
	entries, err := v.ReadDir(path.Join(t.dir, dir))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.report(dir, Lost, NoRemedy, "the directory cannot be listed: %v", err)
		}
		return
	}
	for _, e := range entries {
		rel := path.Join(dir, e.Name())
		fi, err := v.Stat(path.Join(t.dir, rel))
		if err != nil {
			continue // removed meanwhile
		}
		t.entry(rel, fi)
	}
}

func (t *sessionTree) entry(rel string, fi fs.FileInfo) {
	c := t.c
	c.sum.Files++
	c.sum.Bytes += fi.Size()
	kind := c.kindOf(rel, fi.IsDir())
	if kind == nil {
		t.unknown(rel, fi)
		return
	}
	if kind.Class == Tree {
		return
	}
	if !fi.IsDir() && !fi.Mode().IsRegular() {
		t.wrongType(rel, kind, fi)
		return
	}
	if path.Dir(rel) == disk.QuarantineDir {
		c.sum.Quarantined++
		return
	}
	t.checkOwner(rel, kind, fi)
	f := &CheckedFile{Rel: rel, t: t, info: fi, kind: kind}
	if kind.Check != nil {
		kind.Check(f)
	}
	if fi.IsDir() && rel != disk.QuarantineDir {
		t.walk(rel)
	} else if fi.IsDir() {
		entries, _ := c.s.Disk().FS.ReadDir(path.Join(t.dir, rel))
		c.sum.Quarantined += len(entries)
		c.sum.Files += len(entries)
	}
}

// unknown is a file that no kind fits. Scratch files of editors may stand in a session's directories, nothing else.
func (t *sessionTree) unknown(rel string, fi fs.FileInfo) {
	inside := rel == ctxabi.InternalDir || len(rel) > len(ctxabi.InternalDir) && rel[:len(ctxabi.InternalDir)+1] == ctxabi.InternalDir+"/"
	known := t.c.kindOf(rel, !fi.IsDir())
	switch {
	case known != nil:
		t.wrongType(rel, known, fi)
	case inside:
		t.report(rel, Odd, t.aside(rel), "no file of this name belongs there")
	case !fi.Mode().IsRegular():
		t.report(rel, Odd, t.aside(rel), "it is %s; a session's directories hold regular files", typeOf(fi))
	}
}

func (t *sessionTree) wrongType(rel string, kind *FileKind, fi fs.FileInfo) {
	sev := Rebuildable
	if kind.Class == Truth {
		sev = Lost
	}
	t.report(rel, sev, t.aside(rel), "it is %s in the place of what ctxfs keeps there", typeOf(fi))
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
