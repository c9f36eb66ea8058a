package fs

import (
	"errors"
	"os"
	"syscall"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/disk"
)

// MakePlace makes the directory of ref: a session; without ref.Session an agent's home; without
// ref.Agent a user's home. It makes the directories above, too. All belong to owner, who is in a
// home its user. A directory that is there stays as it is. It returns ctxabi.ErrDenied if the mount
// serves another user alone, and ctxabi.ErrNotFound for a space that does not exist.
func (s *Server) MakePlace(ref ctxabi.Ref, owner uint32) error {
	if !s.t.asRoot && owner != s.t.uid {
		return ctxabi.E("mkdir", ref.Path(), ctxabi.ErrDenied, "this mount serves uid %d alone", s.t.uid)
	}
	if ref.Agent == "" { // every uid has its home
		return s.HasPlace(ref)
	}
	r := realm{t: s.t, ref: ctxabi.Ref{UID: ref.UID, Space: ref.Space}}
	o := r.owner()
	maker := disk.Owner{UID: owner, GID: o.gid, Mode: 0o700}
	if o.group {
		maker.Mode = 0o2770
	}
	if ref.Session == "" {
		return s.t.store.EnsureAgent(ref, maker)
	}
	_, err := s.t.store.Create(ref, maker)
	if errors.Is(err, ctxabi.ErrExists) {
		return s.HasPlace(ref)
	}
	return err
}

// HasPlace returns ctxabi.ErrNotFound if the directory of ref does not exist.
func (s *Server) HasPlace(ref ctxabi.Ref) error {
	if ref.Session != "" {
		_, err := s.t.store.Session(ref)
		return err
	}
	dir := ref.AgentHome()
	if ref.Agent == "" {
		if ref.Space == "" {
			return nil
		}
		dir = ref.Owner()
	}
	x, err := s.t.stat(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && x.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return ctxabi.E("lookup", "", ctxabi.ErrNotFound, "%s does not exist", dir)
	}
	return err
}
