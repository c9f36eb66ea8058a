package session

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
)

// A child names its session in its files agent and session. What happens to that session is
// followed here: where it is moved, the names go along; where it is removed, its parents keep what
// it said.

// withChildren lists the sessions of ref's owner that have children. A directory that cannot be read
// is an error, because the caller is about to change what a child must follow.
func (s *Store) withChildren(ref ctxabi.Ref) (list []ctxabi.Ref, err error) {
	names := func(rel ...string) (names []string) {
		entries, e := s.disk.FS.ReadDir(s.disk.Join(rel...))
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		for _, e := range entries {
			if e.IsDir() && ctxabi.ValidName(e.Name()) == nil {
				names = append(names, e.Name())
			}
		}
		return names
	}
	for _, ref.Agent = range names(ref.Owner(), ctxabi.AgentDir) {
		for _, ref.Session = range names(ref.AgentHome(), ctxabi.SessionDir) {
			list = append(list, ref)
		}
	}
	with := slices.DeleteFunc(list, func(ref ctxabi.Ref) bool { return len(names(ref.Path(), ctxabi.ChildDir)) == 0 })
	return with, err
}

// Link is the place of a session as a child: its parent, and its name there.
type Link struct {
	Parent ctxabi.Ref
	Child  Child
	at     *Session // the parent, whatever it is called by now
}

// maxRenamed is how often sessions are listed anew because one was renamed meanwhile, which may be in no list or in two.
const maxRenamed = 20

// unmoved calls do until no session or agent of the store was renamed meanwhile, maxRenamed times at most. It returns the error
// of do.
func (s *Store) unmoved(do func() error) (err error) {
	for range maxRenamed {
		before := s.renames.Load()
		if err = do(); err != nil || before%2 == 0 && s.renames.Load() == before {
			return err
		}
	}
	return err
}

// Parents lists whose child the session at ref is. It walks over the sessions of one owner, since a
// link never leads to another's. It returns the error of a disk that cannot list them.
func (s *Store) Parents(ref ctxabi.Ref) (links []Link, err error) {
	err = s.unmoved(func() (err error) { links, err = s.parentsOf(ref); return err })
	return links, err
}

// parentsOf is Parents while no session is renamed.
func (s *Store) parentsOf(ref ctxabi.Ref) (links []Link, err error) {
	parents, err := s.withChildren(ref)
	if err != nil {
		return nil, vfs.Failed("list", ctxabi.ChildDir, err, "the parent of the session is not known")
	}
	for _, parent := range parents {
		x, err := s.Session(parent)
		if err != nil {
			continue // removed meanwhile
		}
		list, err := x.Children()
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if c.Linked && c.Ref == ref {
				links = append(links, Link{Parent: parent, Child: c, at: x})
			}
		}
	}
	return links, nil
}

// lastWord is what the removal of a session writes into a child that shows it.
type lastWord struct {
	parent *Session
	rel    string
	data   []byte
}

// lastWords returns what the session x said last, and how it ended, for the children links that show it,
// because it is about to be removed. What the parent wrote stays. before is what they show anyway:
// it is written while the session is there, so that no death of the daemon loses it, and taken back
// where the session stays, for it follows the session no more. A child that had not ended has
// failed, but only once its session is gone: that is written after, since nothing would take it
// back from a session that goes on.
func (s *Store) lastWords(x *Session, links []Link) (before, after []lastWord, err error) {
	for _, l := range links {
		if l.at == x || l.at.Removed() {
			continue // it goes with it
		}
		if l.Child.ResultOrigin == ctxabi.OriginDerived {
			rel := ctxabi.ChildPath(l.Child.Name, ctxabi.ChildResult)
			text, err := x.lastText()
			if err != nil {
				return nil, nil, notKept(l.Parent, rel, err)
			}
			if len(text) > 0 {
				before = append(before, lastWord{l.at, rel, text})
			}
		}
		if l.Child.StatusOrigin == ctxabi.OriginDerived {
			rel := ctxabi.ChildPath(l.Child.Name, ctxabi.ChildStatus)
			if l.Child.Finished() {
				before = append(before, lastWord{l.at, rel, []byte(l.Child.Status + "\n")})
			} else {
				after = append(after, lastWord{l.at, rel, []byte("error\n")})
			}
		}
	}
	return before, after, nil
}

func notKept(parent ctxabi.Ref, rel string, err error) error {
	return ctxabi.E("remove", "", ctxabi.ErrProtected, "%s shows its result as %s, and it could not be stored there: %v", parent, rel, err)
}

// lastText is what a removed session leaves as a result: none where a sealed part that is damaged
// had it, which no one will read any more.
func (x *Session) lastText() ([]byte, error) {
	ix, err := x.messages.Index()
	var said string
	if err == nil {
		said, err = x.latestOf(ix, nil) // what stays of it is all there will be: nothing is left out of it
	}
	text := asFile(said)
	var bad *archive.DamageError
	if errors.As(err, &bad) {
		return nil, nil
	}
	text = bytes.ReplaceAll(text, []byte{0}, nil) // as in any file that stands in prompts
	if len(text) > ctxabi.MaxControl {
		text = append(bytes.ToValidUTF8(text[:ctxabi.MaxControl-len(cutResult)], nil), cutResult...)
	}
	return text, err
}

func (w *lastWord) write() error {
	err := w.parent.SetControl(w.rel, w.data)
	if Gone(err) {
		return nil // the child, or the parent itself
	}
	return err
}

// takeBack removes what write wrote, unless somebody wrote something else since.
func (w *lastWord) takeBack() {
	x := w.parent
	if err := x.removeIf(w.rel, w.data); err != nil {
		x.dir.ReportError("remove", w.rel, vfs.Failed("remove", w.rel, err, "its session was not removed, but it no longer follows it"))
	}
}

// removeIf removes a file that holds what is expected. A file with other content stays.
func (x *Session) removeIf(rel string, expected []byte) error {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	file := x.dir.Path(rel)
	data, err := vfs.ReadFile(x.store.disk.FS, file)
	if Gone(err) || err == nil && !bytes.Equal(data, expected) {
		return nil
	}
	defer x.Touch()
	if err == nil {
		err = x.store.disk.FS.Remove(file)
	}
	if err == nil {
		err = x.store.disk.FS.SyncDir(path.Dir(file))
	}
	return err
}

// cutResult ends a result that was too long to be kept whole as a control file.
const cutResult = "\n[cut: the session was removed]\n"

// relink makes the children that name a session below from name it as it is called below to.
// Root.Move is held for writing. One that cannot be written keeps the old name, which is reported.
func (s *Store) relink(from, to string) {
	owner, err := ownerOfPath(from)
	if err != nil {
		return
	}
	parents, _ := s.withChildren(owner)
	for _, parent := range parents {
		x := s.known(parent)
		if x == nil {
			continue
		}
		for _, name := range s.disk.Dirs(parent.Path(), ctxabi.ChildDir) {
			if ctxabi.ValidName(name) == nil {
				x.relink(name, from, to)
			}
		}
	}
}

// relink does that for one child of x.
func (x *Session) relink(name, from, to string) {
	v := x.store.disk.FS
	read := func(file string) string {
		data, _ := vfs.ReadFile(v, x.dir.Path(ctxabi.ChildPath(name, file)))
		return trimNewline(data)
	}
	was := x.Ref()
	was.Agent, was.Session = read(ctxabi.ChildAgent), read(ctxabi.ChildSession)
	rest, ok := strings.CutPrefix(was.Path(), from)
	if !ok || rest != "" && rest[0] != '/' || ctxabi.ValidName(was.Agent) != nil || ctxabi.ValidName(was.Session) != nil {
		return
	}
	now, err := ctxabi.ParseRef(to + rest)
	if err != nil {
		return
	}
	for _, f := range []struct{ file, was, now string }{{ctxabi.ChildAgent, was.Agent, now.Agent}, {ctxabi.ChildSession, was.Session, now.Session}} {
		if f.was == f.now {
			continue
		}
		rel := ctxabi.ChildPath(name, f.file)
		if err := x.dir.Replace(rel, []byte(f.now+"\n"), true); err != nil {
			x.dir.ReportError("rename", rel, vfs.Failed("rename", rel, err, "its session is called "+now.Path()+" now"))
		}
	}
	x.Touch()
}

// known returns a session that is there, in use or not; nil where it cannot be read. Unlike Session
// it takes no lock of moves.
func (s *Store) known(ref ctxabi.Ref) *Session {
	s.mu.Lock()
	x := s.sessions[ref]
	s.mu.Unlock()
	if x == nil {
		x, _ = s.load(ref)
	}
	return x
}

// ownerOfPath returns the owner of a session's or an agent's path in the store.
func ownerOfPath(rel string) (ctxabi.Ref, error) {
	if path.Base(path.Dir(rel)) == ctxabi.AgentDir {
		rel = path.Join(rel, ctxabi.SessionDir, "x")
	}
	return ctxabi.ParseRef(rel)
}
