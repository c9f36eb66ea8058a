package session

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Space is a shared space.
type Space struct {
	Name string
	GID  uint32
}

// EnsureHome makes home/<uid> and home/<uid>/agent if they are not there yet. It returns
// ctxabi.ErrReadOnly and the error of the disk.
func (s *Store) EnsureHome(uid, gid uint32) error {
	if err := s.disk.Writable("mkdir"); err != nil {
		return err
	}
	home := s.disk.Join(ctxabi.Ref{UID: uid}.Owner())
	o := disk.Owner{UID: uid, GID: gid, Mode: 0o700}
	if err := s.disk.Mkdir(home, o); err != nil {
		return err
	}
	return s.disk.Mkdir(path.Join(home, ctxabi.AgentDir), o)
}

// EnsureAgent makes the home of ref's agent and the directory of its sessions. A shared space must
// exist. It returns ctxabi.ErrMalformed for a name that is none, ctxabi.ErrNotFound if the space is
// not there, and ctxabi.ErrReadOnly.
func (s *Store) EnsureAgent(ref ctxabi.Ref, o disk.Owner) error {
	if err := s.disk.Writable("mkdir"); err != nil {
		return err
	}
	if err := ctxabi.ValidName(ref.Agent); err != nil {
		return err
	}
	if ref.Space == "" {
		if err := s.EnsureHome(ref.UID, o.GID); err != nil {
			return err
		}
	} else if _, err := s.disk.FS.Stat(s.disk.Join(ref.Owner())); err != nil {
		return ctxabi.E("mkdir", "", ctxabi.ErrNotFound, "there is no shared space %q; make it with ctxfs space new", ref.Space)
	}
	home := s.disk.Join(ref.AgentHome())
	if err := s.disk.Mkdir(home, o); err != nil {
		return err
	}
	return s.disk.Mkdir(path.Join(home, ctxabi.SessionDir), o)
}

// CreateSpace makes the shared space name for the group gid and gives its
// directory. It is built aside and renamed into place, which needs no lock: it
// also works on a store that is open for reading only, beside the daemon that
// serves it. It fails with ctxabi.ErrExists when the space exists.
func (s *Store) CreateSpace(name string, gid uint32) (dir string, err error) {
	if err := ctxabi.ValidName(name); err != nil {
		return "", err
	}
	dir = s.disk.Join(ctxabi.SharedDir, name)
	if _, err := s.disk.FS.Stat(dir); err == nil {
		return "", ctxabi.E("space new", "", ctxabi.ErrExists, "the space %q exists already", name)
	}
	tmp := s.disk.TmpName()
	agents := path.Join(tmp, ctxabi.AgentDir)
	if err = s.disk.FS.Mkdir(tmp, 0o700); err == nil {
		err = s.disk.FS.Mkdir(agents, 0o700)
	}
	for _, d := range []string{agents, tmp} {
		if err == nil {
			err = s.disk.FS.Chown(d, os.Geteuid(), int(gid))
		}
		if err == nil {
			err = s.disk.FS.Chmod(d, vfs.UnixMode(0o2770)) // after chown, which clears setgid
		}
		if err == nil {
			err = s.disk.FS.SyncDir(d)
		}
	}
	if err == nil {
		err = s.disk.FS.Rename(tmp, dir)
	}
	if err != nil {
		s.disk.RemoveAll(tmp)
		return "", fmt.Errorf("make space %s: %w", name, err)
	}
	if err := s.disk.FS.SyncDir(path.Dir(dir)); err != nil {
		return "", fmt.Errorf("space %s was made, but may not survive a loss of power: %w", name, err)
	}
	return dir, nil
}

// Spaces lists the shared spaces in name order.
func (s *Store) Spaces() []Space {
	var spaces []Space
	for _, name := range s.disk.Dirs(ctxabi.SharedDir) {
		if fi, err := s.disk.FS.Stat(s.disk.Join(ctxabi.SharedDir, name)); err == nil && ctxabi.ValidName(name) == nil {
			_, gid, _ := vfs.OwnerOf(fi)
			spaces = append(spaces, Space{Name: name, GID: gid})
		}
	}
	return spaces
}

// Homes lists the users that have a home, in name order.
func (s *Store) Homes() []uint32 {
	var uids []uint32
	for _, name := range s.disk.Dirs(ctxabi.HomeDir) {
		if uid, ok := ctxabi.ParseUID(name); ok {
			uids = append(uids, uid)
		}
	}
	return uids
}

// Sessions walks over all sessions of the store, owners and names in order. It reads directories as
// it goes.
func (s *Store) Sessions() iter.Seq[ctxabi.Ref] {
	return func(yield func(ctxabi.Ref) bool) {
		for _, owner := range s.owners() {
			for ref := range s.SessionsOf(owner) {
				if !yield(ref) {
					return
				}
			}
		}
	}
}

// CountSessions returns the number of sessions in the store. It reads the directories that hold
// sessions and none of a session's own, so one that lost its id counts, too.
func (s *Store) CountSessions() (n int) {
	for _, owner := range s.owners() {
		for range s.sessionNames(owner) {
			n++
		}
	}
	return n
}

// owners returns the homes and the shared spaces, in order.
func (s *Store) owners() []ctxabi.Ref {
	var owners []ctxabi.Ref
	for _, uid := range s.Homes() {
		owners = append(owners, ctxabi.Ref{UID: uid})
	}
	for _, sp := range s.Spaces() {
		owners = append(owners, ctxabi.Ref{Space: sp.Name})
	}
	return owners
}

// SessionsOf walks over the sessions of one owner, in the order of their names; where of has an
// agent, over those of that agent alone.
func (s *Store) SessionsOf(of ctxabi.Ref) iter.Seq[ctxabi.Ref] {
	return func(yield func(ctxabi.Ref) bool) {
		for ref := range s.sessionNames(of) {
			if _, err := s.disk.FS.Stat(s.disk.Join(ref.Path(), disk.IDFile)); err == nil && !yield(ref) {
				return
			}
		}
	}
}

// sessionNames is SessionsOf without a look at the sessions: over all directories with names of
// sessions.
func (s *Store) sessionNames(of ctxabi.Ref) iter.Seq[ctxabi.Ref] {
	return func(yield func(ctxabi.Ref) bool) {
		ref := of
		agents := []string{of.Agent}
		if of.Agent == "" {
			agents = s.disk.Dirs(ref.Owner(), ctxabi.AgentDir)
		}
		for _, ref.Agent = range agents {
			for _, ref.Session = range s.disk.Dirs(ref.AgentHome(), ctxabi.SessionDir) {
				if ctxabi.ValidName(ref.Agent) == nil && ctxabi.ValidName(ref.Session) == nil && !yield(ref) {
					return
				}
			}
		}
	}
}

// Rename moves a session or an agent's home, given as paths relative to the
// store, within one owner. Sessions keep their ids, and those in use go on
// under their new path; where one is a child, its parent calls it by its new
// name afterwards. It fails with ctxabi.ErrExists when to exists.
func (s *Store) Rename(from, to string) error {
	if err := s.disk.Writable("rename"); err != nil {
		return err
	}

	defer s.named(NameChange{Kind: RenameDir, From: from, To: to})
	s.disk.Move.Lock()
	defer s.disk.Move.Unlock()
	if _, err := s.disk.FS.Stat(s.disk.Join(to)); err == nil {
		return ctxabi.E("rename", "", ctxabi.ErrExists, "%s exists already", to)
	}
	if err := s.rename(from, to); err != nil {
		return err
	}
	s.relink(from, to)
	err := s.disk.FS.SyncDir(path.Dir(s.disk.Join(from)))
	return errors.Join(err, s.disk.FS.SyncDir(path.Dir(s.disk.Join(to))))
}

// rename renames a directory and gives the sessions in use below it their new places; s.move is
// held for writing.
func (s *Store) rename(from, to string) error {
	s.disk.Moving.Lock()
	defer s.disk.Moving.Unlock()
	s.renames.Add(1)
	defer s.renames.Add(1)
	if err := s.disk.FS.Rename(s.disk.Join(from), s.disk.Join(to)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for ref, x := range s.sessions {
		rest, ok := strings.CutPrefix(ref.Path(), from)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		moved, err := ctxabi.ParseRef(to + rest)
		if err != nil {
			return err
		}
		delete(s.sessions, ref)
		s.sessions[moved] = x
		x.dir.SetRef(moved)
	}
	return nil
}
