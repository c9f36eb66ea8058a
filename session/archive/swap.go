package archive

import (
	"errors"
	"fmt"
	"os"
	"path"
)

// Archived is how much of a log is sealed.
type Archived struct {
	Parts  int   // files
	Raw    int64 // bytes of records that are in them
	Packed int64 // bytes that they take
}

// Archived returns how much of the log is sealed.
func (d *Data) Archived() (a Archived) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, p := range d.parts {
		a.Parts, a.Raw, a.Packed = a.Parts+1, a.Raw+p.Size, a.Packed+p.Packed
	}
	return a
}

// NamePart lists a part, which lies in the synced file tmp, as pending and gives it its name, the
// first free one. It returns the error of the disk, once what was written is taken back.
func (d *Data) NamePart(p *Part, tmp string) error {
	x := d.at.Dir
	v := x.Root.FS
	number := 1
	if n := len(d.parts); n > 0 {
		number = d.parts[n-1].Number + 1
	}
	for ; ; number++ {
		if _, err := v.Stat(x.Path(PartName(d.at.Log, number))); err != nil {
			break
		}
	}
	p.Number = number
	d.pending = true
	if err := d.writeList(append(d.parts[:len(d.parts):len(d.parts)], p), true); err != nil {
		return d.undo(p, err)
	}
	file := x.Path(PartName(d.at.Log, number))
	err := v.Rename(tmp, file)
	if err == nil {
		err = v.SyncDir(path.Dir(file))
	}
	if err != nil {
		return d.undo(p, err)
	}
	return nil
}

// ReplaceTail makes p, which has its name, the last part, and the file tmp the tail of the log. It
// returns the error of the disk, once what was written is taken back.
func (d *Data) ReplaceTail(p *Part, tmp string) error {
	x := d.at.Dir
	next, err := x.Root.FS.OpenFile(tmp, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return d.undo(p, err)
	}
	d.swapping.Store(true)
	defer d.swapping.Store(false)
	if err := x.Root.FS.Rename(tmp, x.Path(d.at.Log)); err != nil {
		next.Close()
		return d.undo(p, err)
	}
	d.swap(p, next)
	return nil
}

// undo takes back what sealing p did until then, as far as the disk lets it; the rest is done when
// the log is opened, or sealed again.
func (d *Data) undo(p *Part, cause error) error {
	d.redundant = append(d.redundant, p.Number)
	if err := d.PutRight(); err != nil {
		return errors.Join(cause, fmt.Errorf("and its unfinished file could not be removed: %w", err))
	}
	return cause
}
