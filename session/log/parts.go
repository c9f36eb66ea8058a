package log

import (
	"errors"
	"io"

	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// openData opens the tail and the sealed parts in front of it. Root.Move is held for reading.
func (l *Log) openData(arrivals vfs.File) (*archive.Data, error) {
	x := l.dir
	parts := &archive.Location{Dir: x, Log: l.name, Frames: &l.set.frames, Windows: &l.set.windows}
	for {
		before, err := parts.ReadList()
		if err != nil {
			return nil, err
		}
		tail, err := l.openFile(l.name)
		if err != nil {
			return nil, err
		}
		after, err := parts.ReadList()
		if err == nil && x.Root.ReadOnly && string(after) != string(before) {
			tail.Close() // a daemon beside us sealed a part meanwhile
			continue
		}
		if err != nil {
			tail.Close()
			return nil, err
		}
		return archive.Open(parts, tail, before, rowsOf{arrivals})
	}
}

// rowsOf is what an open file of arrival rows tells package archive.
type rowsOf struct{ vfs.File }

// LastEnd is where the last row of a file of arrival rows that can be read says that the log ends.
// It returns the error of a read.
func LastEnd(arrivals vfs.File) (int64, error) { return rowsOf{arrivals}.End() }

// End is where the last arrival row that can be read says that the log ends.
func (r rowsOf) End() (end int64, err error) {
	fi, err := r.Stat()
	if err != nil {
		return 0, err
	}
	err = vfs.ScanLinesBackward(r, fi.Size(), func(_ int64, line []byte) bool {
		a, ok := arrival.ParseRow(line)
		if ok {
			end = a.End()
		}
		return !ok
	})
	return end, err
}

// Begins reports whether tail begins with what the arrival row at begin announced.
func (r rowsOf) Begins(tail io.ReaderAt, begin int64) (fits bool, err error) {
	fi, err := r.Stat()
	if err != nil {
		return false, err
	}
	from, err := seekArrival(r, fi.Size(), begin)
	if err != nil {
		return false, err
	}
	var failed error
	err = vfs.ScanLines(r, from, fi.Size(), func(_, _ int64, line []byte, _ bool) bool {
		a, ok := arrival.ParseRow(line)
		if ok && a.Off == begin {
			var sum arrival.Hash
			sum, failed = vfs.HashRange(tail, 0, a.Len)
			fits = failed == nil && sum == a.SHA
		}
		return !ok || a.Off < begin
	})
	return fits, errors.Join(err, failed)
}

// View is committed bytes of a log that nothing has copied. They are for a system call alone: a
// process that looks at them itself is killed where the disk fails or somebody cuts the file.
type View struct {
	*archive.View
	log *Log
}

// View returns the committed bytes from off on, at most n, as ReadAt reads them, to be released. ok is
// false where ReadAt has to be used, see [archive.Data.View]; whatever is wrong, it has the error.
func (l *Log) View(off int64, n int) (v View, ok bool) {
	if n < archive.ViewLeast {
		return View{}, false
	}
	f, err := l.acquire()
	if err != nil {
		return View{}, false
	}
	if rest := l.length.Load() - off; off >= 0 && rest > 0 {
		v = View{f.data.View(off, int(min(int64(n), rest))), l}
	}
	if v.View == nil {
		l.release()
		return View{}, false
	}
	return v, true
}

// Release ends the use of the view's bytes. It is called once.
func (v View) Release() {
	v.View.Release()
	v.log.release()
}
