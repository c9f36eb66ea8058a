package session

import (
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/log"
)

// Remove takes a session out of the store with all its history, for good. Whoever has it open gets
// ctxabi.ErrNotFound from then on. What it said last stays with the sessions that it is a child of
// ([Child]). It is gone at once, also after a loss of power; its bytes are given back before it
// returns.
func (s *Store) Remove(ref ctxabi.Ref) error {
	x, err := s.Session(ref)
	if err != nil {
		return err
	}
	_, err = s.remove(x, ref, func() (bool, error) { return true, nil })
	return err
}

// remove removes x while it is called ref, if confirm returns true.
func (s *Store) remove(x *Session, ref ctxabi.Ref, confirm func() (bool, error)) (done bool, err error) {
	if err := s.disk.Writable("remove"); err != nil {
		return false, err
	}
	// Nothing is appended between the last look and the end: whoever waits for a turn finds the session gone.
	defer log.Hold(&x.messages, &x.events)()
	if ok, err := confirm(); !ok || err != nil {
		return false, err
	}
	links, err := s.Parents(ref)
	if err != nil {
		return false, err
	}
	before, after, err := s.lastWords(x, links)
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
	defer s.named(NameChange{Kind: RemoveSession, Ref: ref})
	outside, err := s.takeOut(x, ref)
	if err != nil {
		if !x.Removed() {
			stays()
		}
		return false, vfs.Failed("remove", "", err, "the session was not removed")
	}
	for _, w := range after {
		if err := w.write(); err != nil {
			w.parent.dir.ReportError("remove", w.rel, err)
		}
	}
	for _, l := range []*log.Log{&x.messages, &x.events} {
		l.CloseRemoved()
	}
	s.disk.RemoveAll(outside)
	return true, nil
}

func another(ref ctxabi.Ref) error {
	return ctxabi.E("remove", "", ctxabi.ErrNotFound, "%s was removed or replaced in the meantime", ref)
}

// takeOut moves the session's directory to tmp and returns its new name. The next start of a daemon
// removes it there.
func (s *Store) takeOut(x *Session, ref ctxabi.Ref) (outside string, err error) {
	s.disk.Move.Lock()
	defer s.disk.Move.Unlock()
	if x.Removed() || x.Ref() != ref { // moved or removed since it was looked up: what is called ref now was not meant
		return "", another(ref)
	}
	dir, outside := s.disk.Join(ref.Path()), s.disk.TmpName()
	s.disk.Moving.Lock()
	err = s.disk.FS.Rename(dir, outside)
	if err == nil {
		x.dir.MarkRemoved()
	}
	s.disk.Moving.Unlock()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	delete(s.sessions, ref)
	s.mu.Unlock()
	// Another session may come to stand under its name: what still holds this one finds nothing.
	nowhere := ref
	nowhere.Session = ".removed-" + x.ID()
	x.dir.SetRef(nowhere)
	return outside, s.disk.FS.SyncDir(path.Dir(dir))
}
