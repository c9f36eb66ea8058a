package session

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// forked are the files of a session, beside its logs and pins, that a fork takes along: what packs are made of.
var forked = []string{
	ctxabi.CwdFile, ctxabi.BudgetFile, ctxabi.PolicyFile, ctxabi.RecipeFile, ctxabi.EnvFile, ctxabi.PlanFile, ctxabi.DiffFile,
	ctxabi.HandoffFile,
}

// Fork makes the session ref with the first n messages of x (all when n is negative), the events that had arrived before
// the next one, and the settings, notes, pins and children as they are now, so that its pack is that of x at that point.
// Times of arrival stay; the chain begins anew, since it is that of another session. It is idle, and its meta.json says forked_from.
// shared says whether the disk shares the bytes of the logs between both (a reflink), rather than having a copy.
// Like a session that is made, it is there whole or not at all.
func (s *Store) Fork(x *Session, n int, ref ctxabi.Ref, o Owner) (fork *Session, shared bool, err error) {
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
	if err := s.EnsureAgent(ref, o); err != nil {
		return nil, false, err
	}
	dir := s.disk.Join(ref.Path())
	exists := func() bool { _, err := s.disk.FS.Stat(dir); return err == nil }
	taken := ctxabi.E("fork", "", ctxabi.ErrExists, "%s exists already", ref)
	if exists() {
		return nil, false, taken
	}
	tmp := s.disk.TmpName()
	if err = s.build(tmp, o); err == nil {
		w := forkWriter{s: s, x: x, dir: tmp, owner: o}
		shared, err = w.write(t, n)
	}
	s.create.Lock()
	defer s.create.Unlock()
	if err == nil && exists() { // made meanwhile
		s.disk.RemoveAll(tmp)
		return nil, false, taken
	}
	if err == nil {
		err = s.disk.FS.Rename(tmp, dir)
	}
	if err == nil {
		err = s.disk.FS.SyncDir(path.Dir(dir))
	}
	if err != nil {
		s.disk.RemoveAll(tmp)
		return nil, false, vfs.Failed("fork", "", err, "the session was not made")
	}
	fork, err = s.Session(ref)
	return fork, shared, err
}

// forkWriter fills the directory of a session that was just built.
type forkWriter struct {
	s     *Store
	x     *Session
	dir   string
	owner Owner
}

func (w *forkWriter) write(t *Timeline, n int) (shared bool, err error) {
	raw, err := vfs.ReadFile(w.s.disk.FS, path.Join(w.dir, disk.IDFile))
	if err != nil {
		return false, err
	}
	id := string(raw[:32])
	shared = true
	for _, part := range []struct {
		log *Log
		ix  *Index
	}{{&w.x.events, t.Events}, {&w.x.messages, t.Messages}} {
		one, err := w.log(part.log, part.ix.size, id)
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
	if err := w.summaries(); err != nil {
		return false, err
	}
	w.s.disk.Move.RLock()
	pins, _ := w.s.disk.FS.ReadDir(w.x.dir.Path(ctxabi.PinnedDir))
	w.s.disk.Move.RUnlock()
	for _, pin := range pins {
		if pin.Type().IsRegular() && ctxabi.IsPin(pin.Name()) {
			if err := w.control(path.Join(ctxabi.PinnedDir, pin.Name())); err != nil {
				return false, err
			}
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

// blobs takes along what users stored. It never changes, so both sessions may have one file under two names.
func (w *forkWriter) blobs() error {
	list := w.x.Blobs()
	if len(list) == 0 {
		return nil
	}
	dir := path.Join(w.dir, blobDir)
	if err := w.s.disk.FS.Mkdir(dir, 0o700); err != nil {
		return err
	}
	w.s.disk.Move.RLock()
	defer w.s.disk.Move.RUnlock()
	for _, b := range list {
		if err := w.s.disk.FS.Link(w.x.dir.Path(blobDir, b.ID), path.Join(dir, b.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.s.disk.FS.SyncDir(dir)
}

// log writes the first size bytes of a log and the rows of their commits, chained for the new session.
func (w *forkWriter) log(l *Log, size int64, id string) (shared bool, err error) {
	f, err := l.acquire()
	if err != nil {
		return false, err
	}
	defer l.release()
	data, err := w.s.disk.FS.OpenFile(path.Join(w.dir, l.name), vfs.Create, w.owner.FileMode().Perm())
	if err != nil {
		return false, err
	}
	defer data.Close()
	parts, err := w.parts(l, f.data, size)
	if err != nil {
		return false, err
	}
	if shared, err = f.data.copyTo(data, parts.base(), size); err != nil {
		return false, err
	}
	l.mu.Lock()
	end := l.tail.arrivals
	l.mu.Unlock()
	rows, err := w.rows(l, f, size, end, id)
	if err == nil {
		err = w.s.fill(path.Join(w.dir, arrivalsFile(l.name)), rows)
	}
	if err == nil && len(parts.Parts) > 0 {
		if err = w.list(l, parts, rows); err == nil {
			err = w.s.disk.FS.SyncDir(path.Join(w.dir, ctxabi.InternalDir))
		}
		if err == nil {
			err = w.s.disk.FS.SyncDir(w.dir)
		}
	}
	return shared, errors.Join(err, data.Sync())
}

// parts takes along the sealed parts that lie in the first size bytes of a log. They never change, so both sessions have
// one file under two names where it belongs to the same owner.
func (w *forkWriter) parts(l *Log, d *logData, size int64) (*sealedList, error) {
	list := new(sealedList)
	v := w.s.disk.FS
	w.s.disk.Move.RLock()
	defer w.s.disk.Move.RUnlock()
	for _, p := range d.partsTo(size) {
		from, to := w.x.dir.Path(sealedName(l.name, p.Number)), path.Join(w.dir, sealedName(l.name, p.Number))
		fi, err := v.Stat(from)
		if err != nil {
			return nil, err
		}
		uid, gid, known := vfs.OwnerOf(fi)
		same := known && uid == w.owner.UID && gid == w.owner.GID && fi.Mode().Perm() == w.owner.FileMode().Perm()
		if !same || v.Link(from, to) != nil {
			if err = p.opened(func(f File) error { return vfs.CopyRange(v, to, f, 0, fi.Size()) }); err == nil {
				err = w.s.disk.Own(to, w.owner, w.owner.FileMode())
			}
		}
		if err != nil {
			return nil, err
		}
		list.Parts = append(list.Parts, p.sealedEntry)
	}
	return list, nil
}

// list writes the list of the parts that were taken along, with the values of the new chain.
func (w *forkWriter) list(l *Log, m *sealedList, rows []byte) error {
	for line := range bytes.Lines(rows) {
		a, _ := parseArrival(bytes.TrimSuffix(line, []byte{'\n'}))
		for i := range m.Parts {
			if a.end() == m.Parts[i].end() {
				m.Parts[i].Chain = hex.EncodeToString(a.Chain[:])
			}
		}
	}
	return w.s.fill(path.Join(w.dir, segmentsFile(l.name)), m.line())
}

// rows are the arrival rows of the first size bytes of l.
func (w *forkWriter) rows(l *Log, f *logFiles, size, end int64, id string) (rows []byte, err error) {
	chain := chainSeed(id, l.name)
	next := int64(0)
	var failed error
	err = vfs.ScanLines(f.arrivals, 0, end, func(_, _ int64, line []byte, _ bool) bool {
		a, ok := parseArrival(line)
		if !ok || a.Off != next || a.Off >= size {
			return a.Off < size && next < size && !ok // a damaged row: what it covered gets one below
		}
		if a.end() > size { // several records came with it, and only some of them are taken
			a.Len = size - a.Off
			if a.SHA, failed = vfs.HashRange(f.data, a.Off, a.end()); failed != nil {
				return false
			}
		}
		chain = chainNext(chain, a.SHA, a.Off, a.Len)
		a.Chain, a.Key, next = chain, Key{}, a.end()
		rows = a.appendTo(rows)
		return next < size
	})
	if err = errors.Join(err, failed); err != nil || next >= size {
		return rows, err
	}
	a := arrival{Off: next, Len: size - next, At: w.x.Created().UnixNano(), Events: -1, Estimated: true}
	if l.name == ctxabi.MessagesFile {
		a.Events = 0
	}
	if a.SHA, err = vfs.HashRange(f.data, a.Off, a.end()); err != nil {
		return nil, err
	}
	a.Chain = chainNext(chain, a.SHA, a.Off, a.Len)
	return a.appendTo(rows), nil
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
		for _, file := range []string{name, ctxabi.OwnNote(name)} {
			if err := w.control(file); err != nil {
				return err
			}
		}
	}
	return nil
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

// summaries takes along what packs hold of a summarizer.
func (w *forkWriter) summaries() error {
	name := path.Join(ctxabi.InternalDir, SummariesFile)
	w.s.disk.Move.RLock()
	data, err := vfs.ReadFile(w.s.disk.FS, w.x.dir.Path(name))
	w.s.disk.Move.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = vfs.WriteFile(w.s.disk.FS, path.Join(w.dir, name), data, 0o600)
	}
	return err
}

// fill replaces the content of an internal file and syncs it.
func (s *Store) fill(name string, data []byte) error {
	f, err := s.disk.FS.OpenFile(name, vfs.Create, 0)
	if err != nil {
		return err
	}
	return errors.Join(vfs.WriteFull(f, data), f.Sync(), f.Close())
}

// cloner is a File whose disk can share its bytes with another.
type cloner interface {
	CloneTo(to File) error
}

// clone says whether to, which is empty, shares all bytes of from now.
func clone(to, from File) bool {
	c, ok := from.(cloner)
	return ok && c.CloneTo(to) == nil
}

// cloneOrCopy gives to, which is empty, the first size bytes of from.
func cloneOrCopy(to, from File, size int64) (shared bool, err error) {
	if size > 0 && clone(to, from) {
		return true, to.Truncate(size)
	}
	_, err = io.Copy(to, io.NewSectionReader(from, 0, size))
	return false, err
}

// copyTo gives to, which is empty, bytes [from, size) of the log. Where none are left all of them are in files that both
// have. A copy reads a frame at a time: a seal that waits for the lock, and all who wait behind it, do not wait for the whole.
func (d *logData) copyTo(to File, from, size int64) (shared bool, err error) {
	if from == size {
		return from > 0, nil
	}
	d.mu.RLock()
	tail, whole := d.tail, from == d.base
	if whole {
		shared = clone(to, tail)
	}
	d.mu.RUnlock()
	if shared {
		return true, to.Truncate(size - from)
	}
	return false, d.copyFrames(to, from, size)
}

// partsTo gives the sealed parts that lie in the first size bytes.
func (d *logData) partsTo(size int64) []*sealedPart {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n := 0
	for n < len(d.parts) && d.parts[n].end() <= size && d.parts[n].gone == nil {
		n++
	}
	return d.parts[:n:n]
}
