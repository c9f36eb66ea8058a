package session

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
)

// settle decides what the tail of a log is. A crash while a part took the place of raw records may have left both; and
// somebody may have put raw records back by hand. Then the raw ones win:
//
//   - size is what the tail file holds, total where the arrivals say that the log ends. The tail begins where a part does
//     or the last one ends; total says where, for no append is under way while a part is sealed.
//   - Where total fits neither, the tail holds the records of a part that is being sealed if it begins with them.
//
// What is not true any more in the store is put right, but for a store that is open for reading only.
func (l *Log) settle(d *logData, list *sealedList, size, total int64, lost bool) error {
	x := l.session
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
			raw, err := l.putBack(d, p)
			if err != nil {
				return err
			}
			if raw {
				keep = i
			}
		}
	}
	if keep == n && lost {
		if err := l.findGap(d, list, size, total); err != nil {
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
	if !d.pending || x.store.o.ReadOnly {
		return nil
	}
	if lost {
		x.Report(ErrorRow{Op: "open", Path: l.name, Errno: "EIO", Reason: segmentsFile(l.name) + " was gone, damaged or older than the sealed parts; it was made again from them"})
	}
	if err := l.putRight(d); err != nil { // a full disk: it is tried again before the next part is sealed
		x.store.o.Logger.Error("settle sealed parts", "session", x.id, "log", l.name, "err", err)
	}
	return nil
}

// stillRaw says whether the tail, of size bytes, begins with the records of p, and not behind them.
func (d *logData) stillRaw(p *sealedPart, size, total int64) (bool, error) {
	switch {
	case size < p.Size || total == p.end()+size:
		return false, nil
	case total == p.Off+size || p.gone != nil:
		return true, nil
	}
	return d.holds(p, 0)
}

// putBack says whether the tail begins with the records of p; with those that the arrivals tell where p cannot be read.
func (l *Log) putBack(d *logData, p *sealedPart) (bool, error) {
	if p.gone != nil {
		return l.firstRow(d, p.Off)
	}
	return d.holds(p, 0)
}

// holds says whether the tail has the records of p at off.
func (d *logData) holds(p *sealedPart, off int64) (same bool, err error) {
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
func (l *Log) findGap(d *logData, list *sealedList, size, total int64) error {
	begin := total - size
	if begin <= d.base || size == 0 {
		return nil
	}
	first, err := l.firstRow(d, begin)
	if err != nil || !first {
		return err
	}
	p := &sealedPart{sealedEntry: l.gap(list, d.base, begin, 0), log: l}
	p.find()
	d.parts, d.base = append(d.parts, p), begin
	return nil
}

// firstRow says whether the tail begins with what an arrival row at begin announced.
func (l *Log) firstRow(d *logData, begin int64) (fits bool, err error) {
	f, err := l.openFile(arrivalsFile(l.name))
	if err != nil {
		return false, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return false, err
	}
	from, err := seekArrival(f, fi.Size(), begin)
	if err != nil {
		return false, err
	}
	var failed error
	err = vfs.ScanLines(f, from, fi.Size(), func(_, _ int64, line []byte, _ bool) bool {
		a, ok := parseArrival(line)
		if ok && a.Off == begin {
			var sum hash
			sum, failed = vfs.HashRange(d.tail, 0, a.Len)
			fits = failed == nil && sum == a.SHA
		}
		return !ok || a.Off < begin
	})
	return fits, errors.Join(err, failed)
}

// putRight makes the store say what d is: parts whose records the tail holds go, and the list is written anew.
func (l *Log) putRight(d *logData) error {
	x := l.session
	v := x.store.vfs
	for len(d.redundant) > 0 {
		if err := l.discard(d, d.redundant[0]); err != nil {
			return err
		}
		d.redundant = d.redundant[1:]
	}
	if err := v.SyncDir(x.Dir()); err != nil {
		return err
	}
	if err := l.writeList(d.parts, false); err != nil {
		return err
	}
	d.pending = false
	return nil
}

// writeList writes the list of parts; none needs none.
func (l *Log) writeList(parts []*sealedPart, pending bool) error {
	x := l.session
	if len(parts) == 0 {
		file := x.path(segmentsFile(l.name))
		if err := x.store.vfs.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return x.store.vfs.SyncDir(path.Dir(file))
	}
	list := &sealedList{Pending: pending}
	for _, p := range parts {
		list.Parts = append(list.Parts, p.sealedEntry)
	}
	return x.replace(segmentsFile(l.name), list.line(), true)
}

// discard removes a sealed part of which the tail holds all records. One that has others is put into the quarantine.
func (l *Log) discard(d *logData, number int) error {
	x := l.session
	v := x.store.vfs
	name := sealedName(l.name, number)
	f, err := v.OpenFile(x.path(name), os.O_RDONLY, 0)
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
	if m, err := readSealMeta(f, fi.Size()); err == nil && m.Off >= d.base {
		p := &sealedPart{sealedEntry: sealedEntry{Number: number, Off: m.Off, Size: m.Size, SHA256: m.SHA256}, log: l, file: f}
		if same, err = d.holds(p, m.Off-d.base); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
	}
	if same {
		return v.Remove(x.path(name))
	}
	o, err := x.owner()
	if err != nil {
		return err
	}
	if err := x.store.mkdir(x.path(quarantineDir), o); err != nil {
		return err
	}
	sum, err := vfs.HashRange(f, 0, fi.Size())
	if err != nil {
		return err
	}
	to := path.Join(quarantineDir, fmt.Sprintf("%s-%s", name, hex.EncodeToString(sum[:4])))
	if err := v.Rename(x.path(name), x.path(to)); err != nil {
		return err
	}
	x.Report(ErrorRow{Op: "open", Path: l.name, Errno: "EIO",
		Reason: fmt.Sprintf("%s has other records than the log has in its place; it was moved to %s", name, to)})
	return v.SyncDir(x.path(quarantineDir))
}
