package session

import (
	"errors"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// trustPath is where what a user trusts stands in the store.
func (s *Store) trustPath(uid uint32) string {
	return s.disk.Join(ctxabi.Ref{UID: uid}.Owner(), ctxabi.TrustFile)
}

// Trust reads home/<uid>/trust.jsonl; fs.ErrNotExist when the user trusts nothing.
func (s *Store) Trust(uid uint32) ([]byte, error) {
	return vfs.ReadFile(s.disk.FS, s.trustPath(uid))
}

// TrustInfo is Trust's file as stat sees it. It returns fs.ErrNotExist when the user trusts nothing.
func (s *Store) TrustInfo(uid uint32) (fs.FileInfo, error) { return s.disk.FS.Stat(s.trustPath(uid)) }

// SetTrust checks data and replaces home/<uid>/trust.jsonl atomically; nil removes it. The file is
// the user's alone. It returns what [CheckControl] does, ctxabi.ErrReadOnly, and the error of the
// disk; the old content stays then.
func (s *Store) SetTrust(uid, gid uint32, data []byte) error {
	if err := s.disk.Writable("set"); err != nil {
		return err
	}
	name := s.trustPath(uid)
	if data == nil {
		if err := s.disk.FS.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return vfs.Failed("set", ctxabi.TrustFile, err, "it was not removed")
		}
		return nil
	}
	if err := CheckControl(ctxabi.TrustFile, data); err != nil {
		return err
	}
	if err := s.EnsureHome(uid, gid); err != nil {
		return err
	}
	o, tmp := disk.Owner{UID: uid, GID: gid, Mode: 0o600}, s.disk.TmpName()
	err := vfs.WriteFile(s.disk.FS, tmp, data, 0o600)
	if err == nil {
		err = s.disk.Own(tmp, o, 0o600)
	}
	if err == nil {
		err = s.disk.FS.Rename(tmp, name)
	}
	if err != nil {
		s.disk.FS.Remove(tmp)
		return vfs.Failed("set", ctxabi.TrustFile, err, "the old content stays")
	}
	return s.disk.FS.SyncDir(path.Dir(name))
}
