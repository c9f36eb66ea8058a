package log

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
)

// logCopy copies a log for a fork.
type logCopy struct {
	l     *Log
	fs    vfs.FS
	dir   string // of the new session
	owner disk.Owner
}

// CopyTo writes the first size bytes of the log and the rows of their commits, chained for the
// session id, to a session that was just built in dir and belongs to o. shared reports whether both
// sessions have the bytes in the same place on the disk. It returns the error of the disk; what was
// written stays then.
func (l *Log) CopyTo(dir string, o disk.Owner, size int64, id string) (shared bool, err error) {
	w := logCopy{l: l, dir: dir, owner: o, fs: l.dir.Root.FS}
	f, err := l.acquire()
	if err != nil {
		return false, err
	}
	defer l.release()
	data, err := w.fs.OpenFile(path.Join(w.dir, l.name), vfs.Create, w.owner.FileMode().Perm())
	if err != nil {
		return false, err
	}
	defer data.Close()
	parts, err := w.parts(f.data, size)
	if err != nil {
		return false, err
	}
	if shared, err = f.data.CopyTo(data, parts.Base(), size); err != nil {
		return false, err
	}
	l.mu.Lock()
	end := f.tail.Arrivals
	l.mu.Unlock()
	rows, err := w.rows(f, parts, size, end, id)
	if err == nil {
		err = w.fill(path.Join(w.dir, ArrivalsFile(l.name)), rows)
	}
	if err == nil && len(parts.Parts) > 0 {
		if err = w.fill(path.Join(w.dir, archive.ListFile(l.name)), parts.Line()); err == nil {
			err = w.fs.SyncDir(path.Join(w.dir, ctxabi.InternalDir))
		}
		if err == nil {
			err = w.fs.SyncDir(w.dir)
		}
	}
	return shared, errors.Join(err, data.Sync())
}

// parts takes along the sealed parts that lie in the first size bytes of a log. They never change,
// so both sessions have one file under two names where it belongs to the same owner.
func (w *logCopy) parts(d *archive.Data, size int64) (*archive.List, error) {
	list := new(archive.List)
	v := w.fs
	w.l.dir.Root.Move.RLock()
	defer w.l.dir.Root.Move.RUnlock()
	for _, p := range d.PartsTo(size) {
		from, to := w.l.dir.Path(archive.PartName(w.l.name, p.Number)), path.Join(w.dir, archive.PartName(w.l.name, p.Number))
		fi, err := v.Stat(from)
		same := false
		if err == nil {
			uid, gid, known := vfs.OwnerOf(fi)
			same = known && uid == w.owner.UID && gid == w.owner.GID && fi.Mode().Perm() == w.owner.FileMode().Perm()
		} else if !errors.Is(err, fs.ErrNotExist) { // else it lies elsewhere: the fork gets a file
			return nil, err
		}
		if !same || v.Link(from, to) != nil {
			if err = p.WithFile(func(f vfs.File) error { return copyWhole(v, to, f) }); err == nil {
				err = w.l.dir.Root.Own(to, w.owner, w.owner.FileMode())
			}
		}
		if err != nil {
			return nil, err
		}
		list.Parts = append(list.Parts, p.Entry)
	}
	return list, nil
}

// copyWhole writes all of a file to a new one. It returns the errors of vfs.CopyRange.
func copyWhole(v vfs.FS, to string, f vfs.File) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	return vfs.CopyRange(v, to, f, 0, fi.Size())
}

// rows are the arrival rows of the first size bytes of w.l, in a chain that begins with id. The
// parts get the values of that chain.
func (w *logCopy) rows(f *logFiles, parts *archive.List, size, end int64, id string) (rows []byte, err error) {
	chain := arrival.ChainFrom(id, w.l.name)
	add := func(a *arrival.Row) {
		chain.Extend(a)
		rows = arrival.AppendRow(rows, a)
		chain.Add(a)
		for i := range parts.Parts {
			if a.End() == parts.Parts[i].End() {
				parts.Parts[i].Chain = hex.EncodeToString(a.Chain[:])
			}
		}
	}
	var failed error
	err = vfs.ScanLines(f.arrivals, 0, end, func(_, _ int64, line []byte, _ bool) bool {
		a, ok := arrival.ParseRow(line)
		if !ok || a.Off != chain.Next || a.Off >= size {
			return a.Off < size && chain.Next < size && !ok // a damaged row: what it covered gets one below
		}
		if a.End() > size { // several records came with it, and only some of them are taken
			a.Len = size - a.Off
			if a.SHA, failed = vfs.HashRange(f.data, a.Off, a.End()); failed != nil {
				return false
			}
		}
		a.Key = arrival.Key{}
		add(&a)
		return chain.Next < size
	})
	if err = errors.Join(err, failed); err != nil || chain.Next >= size {
		return rows, err
	}
	a := arrival.Row{Off: chain.Next, Len: size - chain.Next, At: w.l.dir.Created().UnixNano(), Events: -1, Estimated: true}
	if w.l.name == ctxabi.MessagesFile {
		a.Events = 0
	}
	if a.SHA, err = vfs.HashRange(f.data, a.Off, a.End()); err != nil {
		return nil, err
	}
	add(&a)
	return rows, nil
}

// fill replaces the content of an internal file and syncs it.
func (w *logCopy) fill(name string, data []byte) error {
	f, err := w.fs.OpenFile(name, vfs.Create, 0)
	if err != nil {
		return err
	}
	return errors.Join(vfs.WriteFull(f, data), f.Sync(), f.Close())
}
