package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// forked are the files of a session, beside its logs and pins, that a fork takes along: what packs
// are made of.
var forked = []string{
	ctxabi.CwdFile, ctxabi.BudgetFile, ctxabi.PolicyFile, ctxabi.RecipeFile, ctxabi.EnvFile, ctxabi.PlanFile, ctxabi.DiffFile,
	ctxabi.HandoffFile, ctxabi.ProjectFile,
}

// Fork makes the session ref with the first n messages of x (all when n is negative), the events
// that had arrived before the next one, and the settings, notes, pins and children as they are now,
// so that its pack is that of x at that point. Times of arrival stay; the chain begins anew, since
// it is that of another session. It is idle, and its meta.json says forked_from. shared reports
// whether the disk shares the bytes of the logs between both (a reflink), rather than having a
// copy. Like a session that is made, it is there whole or not at all. It returns ctxabi.ErrNotFound
// if x has fewer messages, ctxabi.ErrExists if ref is taken, and the error of the disk.
func (s *Store) Fork(x *Session, n int, ref ctxabi.Ref, o disk.Owner) (fork *Session, shared bool, err error) {
	if err := s.disk.Writable("fork"); err != nil {
		return nil, false, err
	}
	if err := ctxabi.ValidName(ref.Session); err != nil {
		return nil, false, err
	}
	t, err := x.Timeline()
	if err != nil {
		return nil, false, err
	}
	if all := t.Messages.Len(); n > all {
		return nil, false, ctxabi.E("fork", "", ctxabi.ErrNotFound, "there are %d messages, not %d", all, n)
	} else if n < 0 {
		n = all
	}
	t = t.Prefix(n)
	fork, err = s.install("fork", ref, o, disk.NewID(), func(dir string) (err error) {
		w := forkWriter{s: s, x: x, dir: dir, owner: o}
		shared, err = w.write(t, n)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return fork, shared, nil
}

// forkWriter fills the directory of a session that was just built.
type forkWriter struct {
	s     *Store
	x     *Session
	dir   string
	owner disk.Owner
}

func (w *forkWriter) write(t *log.Timeline, n int) (shared bool, err error) {
	raw, err := vfs.ReadFile(w.s.disk.FS, path.Join(w.dir, disk.IDFile))
	if err != nil {
		return false, err
	}
	id := string(raw[:32])
	shared = true
	for _, part := range []struct {
		log *log.Log
		ix  *log.Index
	}{{&w.x.events, t.Events}, {&w.x.messages, t.Messages}} {
		one, err := part.log.CopyTo(w.dir, w.owner, part.ix.Size(), id)
		if err != nil {
			return false, err
		}
		shared = shared && one
	}
	for _, name := range forked {
		if err := w.control(name); err != nil {
			return false, err
		}
	}
	if err := w.notes(); err != nil {
		return false, err
	}
	if err := w.versions(n); err != nil {
		return false, err
	}
	for _, name := range ForeignFiles() {
		if err := w.internal(name); err != nil {
			return false, err
		}
	}
	if err := w.project(n); err != nil {
		return false, err
	}
	for _, pin := range w.x.Pins() {
		if err := w.control(path.Join(ctxabi.PinnedDir, pin)); err != nil {
			return false, err
		}
	}
	if err := w.blobs(); err != nil {
		return false, err
	}
	if err := w.children(); err != nil {
		return false, err
	}
	return shared, w.meta(n)
}

// blobs takes along what users stored. It never changes, so both sessions may have one file under
// two names.
func (w *forkWriter) blobs() error {
	list := w.x.Blobs()
	if len(list) == 0 {
		return nil
	}
	dir := path.Join(w.dir, blob.Dir)
	if err := w.s.disk.FS.Mkdir(dir, 0o700); err != nil {
		return err
	}
	w.s.disk.Move.RLock()
	defer w.s.disk.Move.RUnlock()
	for _, b := range list {
		if err := w.s.disk.FS.Link(w.x.dir.Path(blob.Dir, b.ID), path.Join(dir, b.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.s.disk.FS.SyncDir(dir)
}

// control takes a control file along, if there is one.
func (w *forkWriter) control(name string) error {
	data, err := w.x.Control(name)
	if errors.Is(err, fs.ErrNotExist) {
		w.s.disk.FS.Remove(path.Join(w.dir, name)) // a new session has some that somebody removed from this one
		return nil
	}
	if err != nil {
		return err
	}
	return w.fill(name, data)
}

// notes takes along what the agent wrote of the notes, in the same life.
func (w *forkWriter) notes() error {
	w.x.notes.Lock()
	defer w.x.notes.Unlock()
	for _, name := range ctxabi.NoteFiles {
		if name == ctxabi.SummaryFile {
			continue // see versions
		}
		for _, file := range []string{name, ctxabi.OwnNote(name)} {
			if err := w.control(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// versions takes along the versions of the summary that were delivered at or before message n.
func (w *forkWriter) versions(n int) error {
	lines, err := w.x.versionsUntil(n)
	if err != nil || len(lines) == 0 {
		return err
	}
	return vfs.WriteFile(w.s.disk.FS, path.Join(w.dir, ctxabi.InternalDir, VersionsFile), summedLines(lines), 0o600)
}

func (w *forkWriter) fill(name string, data []byte) error {
	file := path.Join(w.dir, name)
	if err := vfs.WriteFile(w.s.disk.FS, file, data, w.owner.FileMode().Perm()); err != nil {
		return err
	}
	return w.s.disk.Own(file, w.owner, w.owner.FileMode())
}

// meta is meta.json, and where the fork is from.
func (w *forkWriter) meta(n int) error {
	meta := map[string]any{}
	if data := w.x.checkedControl(ctxabi.MetaFile); data != nil && json.Unmarshal(data, &meta) != nil {
		meta = map[string]any{}
	}
	meta["forked_from"] = fmt.Sprintf("%s@%d", w.x.Ref().Path(), n)
	data, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return w.fill(ctxabi.MetaFile, append(data, '\n'))
}

// internal takes a file of the internal directory along, if there is one: what packs hold of other
// sources, and what cwd means.
func (w *forkWriter) internal(name string) error {
	w.s.disk.Move.RLock()
	data, err := vfs.ReadFile(w.s.disk.FS, w.x.dir.Path(name))
	w.s.disk.Move.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if slices.Contains(ForeignFiles(), name) {
		return w.fill(name, data)
	}
	return vfs.WriteFile(w.s.disk.FS, path.Join(w.dir, name), data, 0o600)
}

// project takes along what packs of the first n messages show of the workspace's memory.
func (w *forkWriter) project(n int) error {
	var kept [][]byte
	err := w.x.EachDerivedLine(ProjectFile, func(line []byte) bool {
		if gjson.GetBytes(line, "from").Int() <= int64(n) {
			kept = append(kept, bytes.Clone(line))
		}
		return true
	})
	if err != nil || len(kept) == 0 {
		return err
	}
	return vfs.WriteFile(w.s.disk.FS, path.Join(w.dir, ctxabi.InternalDir, ProjectFile), summedLines(kept), 0o600)
}
