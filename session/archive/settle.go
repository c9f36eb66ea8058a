package archive

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// settle decides what the tail of a log is. A crash while a part took the place of raw records may
// have left both; and somebody may have put raw records back by hand. Then the raw ones win:
//
//   - size is what the tail file holds, total where the arrivals say that the log ends. The tail begins where a part does
//     or the last one ends; total says where, for no append is under way while a part is sealed.
//   - Where total fits neither, the tail holds the records of a part that is being sealed if it begins with them.
//
// What is not true any more in the store is put right, but for a store that is open for reading only.
func (d *Data) settle(list *List, rows Rows, size, total int64, lost bool) error {
	x := d.at.Dir
	n := len(d.parts)
	keep := n
	switch {
	case n > 0 && (list.Pending || lost):
		raw, err := d.stillRaw(d.parts[n-1], size, total)
		if err != nil {
			return err
		}
		if raw {
			keep--
		}
	case d.base+size != total:
		for i, p := range d.parts {
			if p.Off+size != total || size < d.base-p.Off {
				continue
			}
			raw, err := d.putBack(p, rows)
			if err != nil {
				return err
			}
			if raw {
				keep = i
			}
		}
	}
	if keep == n && lost {
		if err := d.findGap(list, rows, size, total); err != nil {
			return err
		}
		n = len(d.parts)
		keep = n
	}
	gone := d.parts[keep:]
	if keep < n {
		d.parts, d.base = d.parts[:keep:keep], gone[0].Off
	}
	d.pending = keep < n || list.Pending || lost
	for _, p := range gone {
		d.redundant = append(d.redundant, p.Number)
	}
	if !d.pending || x.Root.ReadOnly {
		return nil
	}
	if lost {
		x.Report(disk.ErrorRow{Op: "open", Path: d.at.Log, Errno: "EIO", Reason: ListFile(d.at.Log) + " was missing, damaged or older than the sealed parts; ctxfs rebuilt it from them"})
	}
	if err := d.PutRight(); err != nil { // a full disk: it is tried again before the next part is sealed
		x.Root.Logger.Error("settle sealed parts", "session", x.ID(), "log", d.at.Log, "err", err)
	}
	return nil
}

// stillRaw reports whether the tail, of size bytes, begins with the records of p, and not behind them.
func (d *Data) stillRaw(p *Part, size, total int64) (bool, error) {
	switch {
	case size < p.Size || total == p.End()+size:
		return false, nil
	case total == p.Off+size || p.gone != nil:
		return true, nil
	}
	return d.holds(p, 0)
}

// putBack reports whether the tail begins with the records of p; with those that the arrivals tell
// where p cannot be read.
func (d *Data) putBack(p *Part, rows Rows) (bool, error) {
	if p.gone != nil {
		return rows.Begins(d.tail, p.Off)
	}
	return d.holds(p, 0)
}

// holds reports whether the tail has the records of p at off.
func (d *Data) holds(p *Part, off int64) (same bool, err error) {
	at := off
	same = true
	buf := make([]byte, frameMost)
	p.check(func(raw []byte, bad error) bool {
		if bad != nil {
			if errors.Is(bad, ctxabi.ErrNoFiles) {
				err = bad
			}
			same = false
			return false
		}
		b := buf[:len(raw)]
		if err = vfs.ReadFull(d.tail, b, at); err != nil {
			return false
		}
		at += int64(len(raw))
		same = bytes.Equal(b, raw)
		return same
	})
	return same && err == nil, err
}

// findGap puts in what is missing behind the last part that was found, if the tail begins later.
func (d *Data) findGap(list *List, rows Rows, size, total int64) error {
	begin := total - size
	if begin <= d.base || size == 0 {
		return nil
	}
	first, err := rows.Begins(d.tail, begin)
	if err != nil || !first {
		return err
	}
	p := &Part{Entry: list.gap(d.base, begin), at: d.at}
	p.find()
	d.parts, d.base = append(d.parts, p), begin
	return nil
}

// PutRight makes the store say what d is, where it does not: parts whose records the tail holds go,
// and the list is written anew. It returns the error of the disk; the rest is done by the next
// call.
func (d *Data) PutRight() error {
	if !d.pending {
		return nil
	}
	x := d.at.Dir
	v := x.Root.FS
	for len(d.redundant) > 0 {
		if err := d.discard(d.redundant[0]); err != nil {
			return err
		}
		d.redundant = d.redundant[1:]
	}
	if err := v.SyncDir(x.Dir()); err != nil {
		return err
	}
	return d.Settled()
}

// Settled lists the parts as they are. It returns the error of the disk.
func (d *Data) Settled() error {
	if err := d.writeList(d.parts, false); err != nil {
		return err
	}
	d.pending = false
	return nil
}

// writeList writes the list of parts; none needs none.
func (d *Data) writeList(parts []*Part, pending bool) error {
	x := d.at.Dir
	if len(parts) == 0 {
		file := x.Path(ListFile(d.at.Log))
		if err := x.Root.FS.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return x.Root.FS.SyncDir(path.Dir(file))
	}
	list := &List{Pending: pending}
	for _, p := range parts {
		list.Parts = append(list.Parts, p.Entry)
	}
	return x.Replace(ListFile(d.at.Log), list.Line(), true)
}

// discard removes a sealed part of which the tail holds all records. One that has others is put
// into the quarantine.
func (d *Data) discard(number int) error {
	x := d.at.Dir
	v := x.Root.FS
	name := PartName(d.at.Log, number)
	f, err := v.OpenFile(x.Path(name), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	same := false
	if m, err := ReadMeta(f, fi.Size()); err == nil && m.Off >= d.base {
		p := &Part{Entry: Entry{Number: number, Off: m.Off, Size: m.Size, SHA256: m.SHA256}, at: d.at, file: f}
		if same, err = d.holds(p, m.Off-d.base); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
	}
	if same {
		return v.Remove(x.Path(name))
	}
	o, err := x.Owner()
	if err != nil {
		return err
	}
	if err := x.Root.Mkdir(x.Path(disk.QuarantineDir), o); err != nil {
		return err
	}
	sum, err := vfs.HashRange(f, 0, fi.Size())
	if err != nil {
		return err
	}
	to := path.Join(disk.QuarantineDir, fmt.Sprintf("%s-%s", name, hex.EncodeToString(sum[:4])))
	if err := v.Rename(x.Path(name), x.Path(to)); err != nil {
		return err
	}
	x.Report(disk.ErrorRow{Op: "open", Path: d.at.Log, Errno: "EIO",
		Reason: fmt.Sprintf("%s has other records than the log at the same bytes; it was moved to %s", name, to)})
	return v.SyncDir(x.Path(disk.QuarantineDir))
}
