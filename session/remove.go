package session

import (
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Remove takes a session out of the store with all its history, for good. Whoever has it open gets ctxabi.ErrNotFound
// from then on. What it said last stays with the sessions that it is a child of ([Child]). It is gone at once, also after a loss of power; its bytes are given back before it returns.
func (s *Store) Remove(ref ctxabi.Ref) error {
	x, err := s.Session(ref)
	if err != nil {
		return err
	}
	_, err = s.remove(x, ref, func() (bool, error) { return true, nil })
	return err
}

// remove removes x while it is called ref and again says so.
func (s *Store) remove(x *Session, ref ctxabi.Ref, again func() (bool, error)) (done bool, err error) {
	if err := s.disk.Writable("remove"); err != nil {
		return false, err
	}
	// Nothing is appended between the last look and the end: whoever waits for a turn finds the session gone.
	for _, l := range []*Log{&x.messages, &x.events} {
		defer l.Hold()()
	}
	if ok, err := again(); !ok || err != nil {
		return false, err
	}
	before, after, err := s.lastWords(x)
	if err != nil {
		return false, err
	}
	stays := func() {
		for i := range before {
			before[i].takeBack()
		}
	}
	for i := range before {
		if err := before[i].write(); err != nil {
			stays()
			return false, notKept(before[i].parent.Ref(), before[i].rel, err)
		}
	}
	tmp := s.disk.TmpName()
	if err := s.takeOut(x, ref, tmp); err != nil {
		if !x.Removed() {
			stays()
		}
		return false, vfs.Failed("remove", "", err, "the session stays")
	}
	for _, w := range after {
		if err := w.write(); err != nil {
			w.parent.dir.ReportError("remove", w.rel, err)
		}
	}
	for _, l := range []*Log{&x.messages, &x.events} {
		l.CloseRemoved()
	}
	s.disk.RemoveAll(tmp)
	return true, nil
}

// takeOut moves the session's directory to where the next start of a daemon clears up, too.
func (s *Store) takeOut(x *Session, ref ctxabi.Ref, tmp string) error {
	s.disk.Move.Lock()
	defer s.disk.Move.Unlock()
	if x.Removed() || x.Ref() != ref { // moved or removed since it was looked up: what is called ref now was not meant
		return ctxabi.E("remove", "", ctxabi.ErrNotFound, "%s is another session by now, or none", ref)
	}
	dir := s.disk.Join(ref.Path())
	s.disk.Moving.Lock()
	err := s.disk.FS.Rename(dir, tmp)
	if err == nil {
		x.dir.MarkRemoved()
	}
	s.disk.Moving.Unlock()
	if err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.sessions, ref)
	s.mu.Unlock()
	// Another session may come to stand under its name: what still holds this one finds nothing.
	nowhere := ref
	nowhere.Session = ".removed-" + x.ID()
	x.dir.SetRef(nowhere)
	return s.disk.FS.SyncDir(path.Dir(dir))
}
