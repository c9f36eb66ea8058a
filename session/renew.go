package session

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/log"
)

// renewDir has what a renewal is about to put in its place, relative to the session. It comes to be
// there whole, and is gone when all is done, so that what a crash interrupts is done again.
const renewDir = ctxabi.InternalDir + "/renew"

// In that directory lie the files as the session is to have them, and the names of those that go.
const (
	renewFiles  = "files"
	renewRemove = "remove"
)

// Renew brings a session, which may be in use, up to date at once: fill writes, synced, into the empty
// directory dir the files that take the place of the session's, by their names in the session, and
// returns the names of those that go. Logs that it writes begin with what the session's logs hold. All
// other files of the session stay. The change is there whole or not at all, also after a crash. The
// caller holds the turns of both logs. Renew returns ctxabi.ErrReadOnly, ctxabi.ErrNotFound of a session
// that was removed, the error of fill, and that of the disk.
func (x *Session) Renew(fill func(dir string) (remove []string, err error)) error {
	root := x.dir.Root
	if err := root.Writable("renew"); err != nil {
		return err
	}
	if x.messages.IsBroken() || x.events.IsBroken() {
		return ctxabi.E("renew", "", ctxabi.ErrIO, "the disk failed earlier; restart ctxfs")
	}
	tmp := root.TmpName()
	root.Owned.Store(tmp, nil)
	defer root.Owned.Delete(tmp)
	defer root.RemoveAll(tmp)
	if err := x.stageRenewal(tmp, fill); err != nil {
		return err
	}
	root.Move.RLock()
	defer root.Move.RUnlock()
	if x.dir.Removed() {
		return ctxabi.E("renew", "", ctxabi.ErrNotFound, "the session was removed")
	}
	err := log.Renew(func() error {
		if err := root.FS.Rename(tmp, x.dir.Path(renewDir)); err != nil {
			return err
		}
		if err := root.FS.SyncDir(x.dir.Path(ctxabi.InternalDir)); err != nil {
			return err
		}
		return x.finishRenewal()
	}, &x.messages, &x.events)
	if err != nil {
		return vfs.Failed("renew", "", err, "the session is brought up to date when it is opened again")
	}
	x.Touch()
	x.dir.Grew()
	return nil
}

// stageRenewal has fill write to tmp, and notes there what goes.
func (x *Session) stageRenewal(tmp string, fill func(dir string) ([]string, error)) error {
	v := x.dir.Root.FS
	files := path.Join(tmp, renewFiles)
	for _, dir := range []string{tmp, files} {
		if err := v.Mkdir(dir, 0o700); err != nil {
			return vfs.Failed("renew", "", err, "the session is as it was")
		}
	}
	remove, err := fill(files)
	if err != nil {
		return err
	}
	remove = slices.DeleteFunc(remove, func(name string) bool {
		_, err := v.Stat(path.Join(files, name))
		return err == nil || !filepath.IsLocal(name) || strings.Contains(name, "\n")
	})
	err = vfs.WriteFile(v, path.Join(tmp, renewRemove), []byte(strings.Join(remove, "\n")), 0o600)
	if err == nil {
		err = v.SyncDir(tmp)
	}
	if err != nil {
		return vfs.Failed("renew", "", err, "the session is as it was")
	}
	return nil
}

// finishRenewal does what is left to be done of a renewal, if one was begun. Nobody has a file of the
// session open by its name, and Root.Move is held for reading. It returns the error of the disk.
func (x *Session) finishRenewal() error {
	v, dir := x.dir.Root.FS, x.dir.Path(renewDir)
	if _, err := v.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	list, err := vfs.ReadFile(v, path.Join(dir, renewRemove))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for name := range bytes.SplitSeq(list, []byte("\n")) {
		if len(name) > 0 && filepath.IsLocal(string(name)) {
			x.dir.Root.RemoveAll(x.dir.Path(string(name)))
			if err := v.SyncDir(path.Dir(x.dir.Path(string(name)))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err := x.putRenewed(path.Join(dir, renewFiles), x.dir.Dir()); err != nil {
		return err
	}
	tmp := x.dir.Root.TmpName()
	if err := v.Rename(dir, tmp); err != nil {
		return err
	}
	defer x.dir.Root.RemoveAll(tmp)
	return v.SyncDir(path.Dir(dir))
}

// putRenewed moves what is in from to where it belongs below to, durably.
func (x *Session) putRenewed(from, to string) error {
	v := x.dir.Root.FS
	entries, err := v.ReadDir(from)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // moved before
		}
		return err
	}
	for _, e := range entries {
		a, b := path.Join(from, e.Name()), path.Join(to, e.Name())
		if e.IsDir() {
			if _, err := v.Stat(b); err == nil {
				if err := x.putRenewed(a, b); err != nil {
					return err
				}
				continue
			}
		}
		if err := v.Rename(a, b); err != nil {
			return err
		}
	}
	return v.SyncDir(to)
}
