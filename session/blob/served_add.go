package blob

import (
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Add appends a row and keeps data, its pack.md, unless the pack is kept already. What is older
// than pack_ttl of gc.policy goes. Where it fails nothing was added. It returns ctxabi.ErrReadOnly,
// ctxabi.ErrNoSpace and other errors of the disk.
func (s *Served) Add(row Row, data []byte) error {
	x := s.dir
	if err := x.Root.Writable("serve"); err != nil {
		return err
	}
	row.At = row.At.UTC()
	line, err := row.line()
	if err != nil {
		return err
	}
	ttl := s.ttl()
	s.mu.Lock()
	defer s.mu.Unlock()
	x.Root.Move.RLock()
	defer x.Root.Move.RUnlock()
	if err := x.Root.FS.Mkdir(x.Path(ServedDir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return vfs.Failed("serve", ctxabi.PacksFile, err, "packs that are read are not stored")
	}
	// Rows leave some at a time: whoever follows the file sees it shrink, and begins anew.
	if ttl > 0 && len(s.rows) > 0 && s.rows[0].at.Before(row.At.Add(-ttl-ttl/8)) {
		if _, err := s.drop(row.At.Add(-ttl)); err != nil {
			return err
		}
	}
	if g, _ := s.find(row.PackID); g == nil {
		if err := s.keep(&row, data, ttl); err != nil {
			return err
		}
	}
	if err := s.appendRow(line); err != nil {
		return err
	}
	s.size += int64(len(line))
	s.rows = append(s.rows, servedAt{row.At, row.PackID, s.size})
	s.last = held(data)
	return nil
}

// appendRow writes a row behind the others. s.mu and Root.Move are held.
func (s *Served) appendRow(line []byte) error {
	torn, err := vfs.AppendTo(s.dir.Root.FS, s.dir.Path(ServedRows), s.size, s.torn, line)
	s.torn = torn
	if err != nil {
		return vfs.Failed("serve", ctxabi.PacksFile, err, "packs that are read are not stored")
	}
	return nil
}

// Drop removes the rows until the first that is not older than before, and the packs that no row
// names any more but for those that others are made from. It says how many rows, and how many bytes
// of packs, are gone. It returns ctxabi.ErrReadOnly and the error of the disk.
func (s *Served) Drop(before time.Time) (rows int, packs int64, err error) {
	if err := s.dir.Root.Writable("drop"); err != nil {
		return 0, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir.Root.Move.RLock()
	defer s.dir.Root.Move.RUnlock()
	stored := func() (n int64) {
		for _, g := range s.segments {
			n += g.size
		}
		return n
	}
	was := stored()
	rows, err = s.drop(before)
	return rows, was - stored(), err
}

// drop is Drop; s.mu and Root.Move are held.
func (s *Served) drop(before time.Time) (rows int, err error) {
	for rows < len(s.rows) && s.rows[rows].at.Before(before) {
		rows++
	}
	if rows > 0 {
		if err := s.dropRows(rows); err != nil {
			return 0, err
		}
	}
	named := map[string]bool{}
	for _, r := range s.rows {
		named[r.id] = true
	}
	for k := 0; k < len(s.segments); k++ {
		if g := s.segments[k]; !g.names(named) {
			if err := s.dir.Root.FS.Remove(s.dir.Path(g.path())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return rows, vfs.Failed("drop", ctxabi.ServedDir, err, "it was not removed")
			}
			s.segments = append(s.segments[:k:k], s.segments[k+1:]...)
			k--
		}
	}
	return rows, nil
}

// dropRows writes the file of rows anew, without the first n.
func (s *Served) dropRows(n int) error {
	v, cut := s.dir.Root.FS, s.rows[n-1].end
	rest, err := s.read(cut)
	tmp := s.dir.Root.TmpName()
	if err == nil {
		var f vfs.File
		if f, err = v.OpenFile(tmp, vfs.Create, 0o600); err == nil {
			if len(rest) > 0 {
				err = vfs.WriteFull(f, rest)
			}
			err = errors.Join(err, f.Close())
		}
	}
	if err == nil {
		err = v.Rename(tmp, s.dir.Path(ServedRows))
	}
	if err != nil {
		v.Remove(tmp)
		return vfs.Failed("drop", path.Base(ServedRows), err, "the old rows are unchanged")
	}
	s.rows = append([]servedAt(nil), s.rows[n:]...)
	for i := range s.rows {
		s.rows[i].end -= cut
	}
	s.size, s.dropped, s.torn = s.size-cut, s.dropped+cut, false
	if len(s.rows) == 0 {
		s.last = nil
	}
	return nil
}
