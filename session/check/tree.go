package check

import (
	"errors"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/disk"
)

// skeleton looks at the directories without which the rest has no place.
func (t *sessionTree) skeleton() {
	for _, rel := range []string{ctxabi.InternalDir, ctxabi.ContextDir, ctxabi.PinnedDir} {
		t.wantDir(rel, Rebuildable)
	}
	if fi, err := t.c.s.Disk().FS.Stat(path.Join(t.dir, disk.QuarantineDir)); err == nil && !fi.IsDir() {
		t.wantDir(disk.QuarantineDir, Odd)
	}
}

// wantDir makes a directory where there is none. What stands in its place is moved to the
// quarantine, once there can be one.
func (t *sessionTree) wantDir(rel string, sev Severity) {
	s := t.c.s
	name := path.Join(t.dir, rel)
	fi, err := s.Disk().FS.Stat(name)
	if err == nil && fi.IsDir() {
		return
	}
	if errors.Is(err, fs.ErrNotExist) {
		t.report(rel, sev, Remedy{"created", func() error { return s.Disk().Mkdir(name, t.owner) }}, "the directory is missing")
		return
	}
	if err != nil {
		t.report(rel, Lost, NoRemedy, "it cannot be examined: %v", err)
		return
	}
	t.report(rel, sev, Remedy{"moved to the quarantine; the directory was created", func() error {
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

// unknown is a file that no kind fits. Scratch files of editors may stand in a session's
// directories, nothing else.
func (t *sessionTree) unknown(rel string, fi fs.FileInfo) {
	inside := rel == ctxabi.InternalDir || len(rel) > len(ctxabi.InternalDir) && rel[:len(ctxabi.InternalDir)+1] == ctxabi.InternalDir+"/"
	known := t.c.kindOf(rel, !fi.IsDir())
	switch {
	case known != nil:
		t.wrongType(rel, known, fi)
	case inside:
		t.report(rel, Odd, t.aside(rel), "a file with this name does not belong there")
	case !fi.Mode().IsRegular():
		t.report(rel, Odd, t.aside(rel), "it is %s; a session's directories contain regular files", typeOf(fi))
	}
}

func (t *sessionTree) wrongType(rel string, kind *FileKind, fi fs.FileInfo) {
	sev := Rebuildable
	if kind.Class == Truth {
		sev = Lost
	}
	t.report(rel, sev, t.aside(rel), "it is %s where ctxfs has a file of its own", typeOf(fi))
}
