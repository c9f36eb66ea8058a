package log

import (
	"bufio"
	"errors"
	"io"

	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// arrivalWalk walks the arrival rows of a log beside its records.
type arrivalWalk struct {
	rows   *bufio.Reader
	cur    arrival.Row // the row that covers the offset asked for last
	behind int64       // what holds for records that have no row yet
}

// arrivalsFrom returns the walk for the records behind x.size.
func (x *logIndex) arrivalsFrom(f *logFiles) (*arrivalWalk, error) {
	l := x.log
	w := &arrivalWalk{behind: l.events.length.Load()}
	l.mu.Lock()
	end := f.tail.Arrivals
	l.mu.Unlock()
	from, err := seekArrival(f.arrivals, end, x.size)
	if err != nil {
		return nil, err
	}
	w.rows = bufio.NewReaderSize(io.NewSectionReader(f.arrivals, from, end-from), 64<<10)
	return w, nil
}

// eventsAt returns the length that events.jsonl had when the record at off
// arrived. It is asked with growing offsets. Damaged rows are passed over.
func (w *arrivalWalk) eventsAt(off int64) (int64, error) {
	for w.rows != nil && w.cur.End() <= off {
		line, err := w.rows.ReadSlice('\n')
		switch {
		case err == io.EOF:
			w.rows, w.cur.Events = nil, w.behind
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return 0, err
		default:
			if a, ok := arrival.ParseRow(line[:len(line)-1]); ok {
				w.cur = a
			}
		}
	}
	return max(w.cur.Events, 0), nil
}

// seekArrival finds where to begin reading arrival rows so that the row that
// covers offset off of the log is met: by halving, since rows are in order.
func seekArrival(f vfs.File, size, off int64) (int64, error) {
	const near = 4 << 10
	lo, hi := int64(0), size
	buf := make([]byte, near)
	for hi-lo > 2*near {
		mid := lo + (hi-lo)/2
		b := buf[:min(near, hi-mid)]
		if err := vfs.ReadFull(f, b, mid); err != nil {
			return 0, err
		}
		at, a, ok := firstRow(b)
		if !ok {
			return lo, nil // damaged here: read on from the last good place
		}
		if a.Off <= off {
			lo = mid + int64(at)
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// firstRow finds the first whole row behind a newline in b.
func firstRow(b []byte) (at int, a arrival.Row, ok bool) {
	start := -1
	for i, c := range b {
		if c != '\n' {
			continue
		}
		if start >= 0 {
			if a, ok := arrival.ParseRow(b[start:i]); ok {
				return start, a, true
			}
		}
		start = i + 1
	}
	return 0, arrival.Row{}, false
}
