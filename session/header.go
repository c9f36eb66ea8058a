package session

import (
	"bytes"
	"encoding/json"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// StoreHeader is the content of [StoreFile]: one line with a checksum.
type StoreHeader struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
}

// headerLine is the header of a store of the present format.
func headerLine(id string) []byte {
	line, _ := json.Marshal(StoreHeader{Version: ctxabi.FormatVersion, ID: id})
	return append(vfs.Summed(line), '\n')
}

// ParseHeader reads a store's header. It fails with ctxabi.ErrVersion when the format is newer than
// this program, and with ctxabi.ErrMalformed when this is no header.
func ParseHeader(dir string, raw []byte) (h StoreHeader, err error) {
	line := bytes.TrimSuffix(raw, []byte("\n"))
	damaged := json.Unmarshal(line, &h) != nil || h.Version < 1 || len(h.ID) != 32
	if !damaged && h.Version > ctxabi.FormatVersion {
		// Of a newer format nobody knows here how it is checked; but one digit of the present one may have been changed.
		own := h
		own.Version = ctxabi.FormatVersion
		text, _ := json.Marshal(own)
		if i := bytes.Index(line, []byte(vfs.SumKey)); i < 0 || !bytes.HasSuffix(vfs.Summed(text), line[i:]) {
			return h, ctxabi.E("open", StoreFile, ctxabi.ErrVersion,
				"the store has format %d, this ctxfs reads up to %d; use a newer ctxfs", h.Version, ctxabi.FormatVersion)
		}
		damaged = true
	}
	if damaged || !vfs.SumFits(line, &h) || h.Version > 1 && !bytes.Contains(line, []byte(vfs.SumKey)) {
		return h, ctxabi.E("open", StoreFile, ctxabi.ErrMalformed, "%s/%s is damaged: it does not contain a version and an id; run 'ctxfs fsck'", dir, StoreFile)
	}
	return h, nil
}

// WriteHeader writes the header of a store durably. It returns the error of the disk; the old
// header stays then.
func WriteHeader(v vfs.FS, dir, id string) error {
	file := path.Join(dir, StoreFile)
	err := vfs.WriteFile(v, file+".tmp", headerLine(id), 0o600)
	if err == nil {
		err = v.Rename(file+".tmp", file)
	}
	if err != nil {
		v.Remove(file + ".tmp")
		return err
	}
	return v.SyncDir(dir)
}

// raise durably sets the store's version, so that older programs refuse the store before it
// contains data that they would misread.
func (s *Store) raise(version int) error {
	s.header.Lock()
	defer s.header.Unlock()
	if s.version >= version {
		return nil
	}
	file := path.Join(s.disk.Dir, StoreFile)
	if err := vfs.WriteFile(s.disk.FS, file+".tmp", headerLine(s.id), 0o600); err != nil {
		s.disk.FS.Remove(file + ".tmp")
		return err
	}
	// Keep both files locked to the end, so that a process with the old file open cannot lock it.
	lock, err := s.disk.FS.Lock(file + ".tmp")
	if err != nil {
		return err
	}
	if err := s.disk.FS.Rename(file+".tmp", file); err != nil {
		lock.Close()
		return err
	}
	s.locks = append(s.locks, lock)
	if err := s.disk.FS.SyncDir(s.disk.Dir); err != nil {
		return err
	}
	s.version = version
	return nil
}
