package check

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
)

// owners finds to whom the session's files ought to belong, and looks at its directory.
func (t *sessionTree) owners() error {
	s := t.c.s
	fi, err := s.Disk().FS.Stat(s.Disk().Dir)
	if err != nil {
		return fmt.Errorf("look at %s: %w", s.Disk().Dir, err)
	}
	t.other, _, _ = vfs.OwnerOf(fi)
	home, err := s.Disk().FS.Stat(s.Disk().Join(t.ref.Owner()))
	if err != nil {
		return fmt.Errorf("look at %s: %w", t.ref.Owner(), err)
	}
	if fi, err = s.Disk().FS.Stat(t.dir); err != nil {
		return fmt.Errorf("look at %s: %w", t.rel, err)
	}
	uid, gid, _ := vfs.OwnerOf(fi)
	t.owner = disk.Owner{UID: uid, GID: gid, Mode: 0o700}
	if t.ref.Space != "" {
		_, t.owner.GID, _ = vfs.OwnerOf(home)
		t.owner.Mode = 0o2770
	} else if t.other == 0 {
		t.owner.UID = t.ref.UID
	}
	t.checkMode("", t.owner.DirMode(), fi)
	return nil
}

// checkOwner holds owner, mode and names of a file against those of its kind.
func (t *sessionTree) checkOwner(rel string, kind *FileKind, fi fs.FileInfo) {
	uid, _, _ := vfs.OwnerOf(fi)
	want := t.owner.FileMode()
	if fi.IsDir() {
		want = t.owner.DirMode()
	}
	own := kind.Class == Truth || kind.Class == Control // the owner's own, with the mode of the session
	switch {
	case kind.Class == Agent, path.Dir(rel) == blob.Dir:
	case own && rel != blob.Dir && rel != blob.ServedDir:
		t.checkMode(rel, want, fi)
	case uid != t.owner.UID && uid != t.other || fi.Mode().Perm()&^want.Perm() != 0:
		// Made by whoever served the store then, who may give less to others, never more.
		t.checkMode(rel, want&^0o077, fi)
	}
	if n := vfs.Links(fi); n > 1 && fi.Mode().IsRegular() && path.Dir(rel) != blob.Dir && path.Ext(rel) != ".zst" && kind.Class != Agent { // of those a fork has one, too
		t.report(rel, Odd, t.unlinked(rel, fi), "it has %d names (hard links): it can be changed through another one, past ctxfs", n)
	}
}

// checkMode wants a file to be the owner's with a mode.
func (t *sessionTree) checkMode(rel string, want fs.FileMode, fi fs.FileInfo) {
	s := t.c.s
	uid, gid, known := vfs.OwnerOf(fi)
	name := path.Join(t.dir, rel)
	right := !known || uid == t.owner.UID && (t.ref.Space == "" || gid == t.owner.GID)
	if !right {
		r := NoRemedy
		if s.Disk().AsRoot {
			r = Remedy{fmt.Sprintf("its owner was made uid %d", t.owner.UID), func() error { return s.Disk().Own(name, t.owner, want) }}
		}
		t.report(rel, Odd, r, "it belongs to uid %d (gid %d), and must belong to uid %d", uid, gid, t.owner.UID)
		return
	}
	const bits = fs.ModePerm | fs.ModeSetgid | fs.ModeSetuid
	if have := fi.Mode() & bits; have != want {
		t.report(rel, Odd, Remedy{fmt.Sprintf("its mode was made %04o", unixBits(want)), func() error { return s.Disk().FS.Chmod(name, want) }},
			"its mode is %04o, and must be %04o", unixBits(have), unixBits(want))
	}
}

// unixBits writes a mode as chmod does.
func unixBits(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if m&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	return bits
}

// unlinked is the remedy that leaves the other names of a file to whoever made them.
func (t *sessionTree) unlinked(rel string, fi fs.FileInfo) Remedy {
	s := t.c.s
	return Remedy{"the session has its own copy now", func() error {
		f, err := s.Disk().FS.OpenFile(path.Join(t.dir, rel), 0, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		tmp := s.Disk().TmpName()
		if err = vfs.CopyRange(s.Disk().FS, tmp, f, 0, fi.Size()); err == nil {
			o, _ := t.ownerOf(fi)
			err = s.Disk().Own(tmp, o, fi.Mode())
		}
		if err == nil {
			err = s.Disk().FS.Rename(tmp, path.Join(t.dir, rel))
		}
		if err != nil {
			s.Disk().FS.Remove(tmp)
			return err
		}
		return s.Disk().FS.SyncDir(path.Dir(path.Join(t.dir, rel)))
	}}
}
