package session

import (
	"errors"
	"fmt"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// findings is what opening a log found at its end.
type findings struct {
	tail     logTail // up to and with the last row that has its data (the anchor)
	dropped  int     // complete rows behind the anchor
	records  int     // valid records that no row covers
	bad      int     // invalid lines among them
	valid    int64   // end of the last valid record: the log's length
	size     int64   // of the data file
	arrivals int64   // size of the arrivals file
	odd      string  // a mismatch that stays, in words; or ""
}

// recover finds out where the log ends and repairs its end. It looks at the
// last row and what follows it, no further:
//
//   - trailing rows whose data is absent or torn are dropped;
//   - data behind the last row, up to its last valid record, gets one row
//     marked estimated;
//   - what follows is moved to the quarantine and reported;
//   - a row whose data is complete records, but other ones, is reported and stays.
//
// A log whose end cannot be repaired (the disk is full) is served up to its
// last valid record and takes nothing.
func (l *Log) recover(f *logFiles) (logTail, int64, error) {
	n, err := l.examine(f)
	if err != nil {
		return logTail{}, 0, err
	}
	if l.session.Root.ReadOnly || l.broken.Load() {
		return n.tail, n.valid, nil
	}
	if n.odd != "" {
		l.session.Report(disk.ErrorRow{Op: "open", Path: l.name, Errno: "EIO", Reason: n.odd})
	}
	// The index first: once new rows stand where lost ones did, nobody could
	// tell that it describes the lost ones.
	err = l.index.trim(n.tail.size)
	if err == nil {
		err = l.repair(f, n)
	}
	if errors.Is(err, ctxabi.ErrNoFiles) {
		return logTail{}, 0, err // the disk is as good as before: the next open finds the same and does the rest
	}
	if err != nil {
		l.breakDown("repair", err)
	}
	return n.tail, n.valid, nil
}

// examineOnly reads the end of both files as who may not repair the log sees it, and changes nothing. arrivals are the log's rows.
func (l *Log) examineOnly(arrivals vfs.File) (*findings, error) {
	look := new(Log)
	look.init(l.session.Unchanged(), new(openLogs), nil, l.name)
	data, err := look.openData(arrivals)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	return look.examine(&logFiles{data: data, arrivals: arrivals})
}

// examine reads the end of both files and changes nothing.
func (l *Log) examine(f *logFiles) (*findings, error) {
	n := new(findings)
	fi, err := f.arrivals.Stat() // before the data's: a daemon beside us writes rows first
	if err != nil {
		return nil, err
	}
	n.arrivals = fi.Size()
	if fi, err = f.data.Stat(); err != nil {
		return nil, err
	}
	n.size = fi.Size()
	n.tail.chain = chainSeed(l.session.ID(), l.name)
	sealed := f.data.Sealed() // was verified when it was; it may be damaged, and is not read
	var failed error
	err = vfs.ScanLinesBackward(f.arrivals, n.arrivals, func(off int64, line []byte) bool {
		a, ok := parseArrival(line)
		if ok && a.end() <= n.size {
			same := a.end() <= sealed
			if a.Off >= sealed {
				if same, failed = l.matches(f, &a); failed != nil {
					return false
				}
			}
			intact := same
			if !same {
				if intact, failed = l.allValid(f, max(a.Off, sealed), a.end()); failed != nil {
					return false
				}
				if intact && a.Off >= sealed {
					n.odd = fmt.Sprintf("bytes %d to %d were changed after they were appended; they are served as they are", a.Off, a.end())
				}
			}
			if intact {
				n.tail = logTail{size: a.end(), arrivals: off + int64(len(line)) + 1, chain: a.Chain, events: a.Events}
				return false
			}
		}
		n.dropped++
		return true
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	n.valid = max(n.tail.size, sealed)
	bad := 0
	err = vfs.ScanLines(f.data, n.valid, n.size, func(off, length int64, line []byte, whole bool) bool {
		if !whole || line == nil || l.check(line) != nil {
			bad++
			return true
		}
		n.records++
		n.bad += bad
		bad = 0
		n.valid = off + length + 1
		return true
	})
	return n, err
}

// matches says whether the data of a row is what was announced.
func (l *Log) matches(f *logFiles, a *arrival) (bool, error) {
	sum, err := vfs.HashRange(f.data, a.Off, a.end())
	return sum == a.SHA, err
}

// allValid says whether a range is whole valid records.
func (l *Log) allValid(f *logFiles, from, to int64) (bool, error) {
	ok := from < to
	err := vfs.ScanLines(f.data, from, to, func(_, _ int64, line []byte, whole bool) bool {
		ok = whole && line != nil && l.check(line) == nil
		return ok
	})
	return ok, err
}

// repair makes the files agree with n and brings n.tail up to date. Doing half of it and
// crashing is harmless: the next open finds the same and does the rest.
func (l *Log) repair(f *logFiles, n *findings) error {
	if n.dropped > 1 {
		// One row is what a killed daemon leaves. More is lost power or a log cut
		// by hand: the rows are evidence.
		name, err := l.session.Quarantine(f.arrivals, path.Base(arrivalsFile(l.name)), n.tail.arrivals, n.arrivals)
		if err != nil {
			return err
		}
		l.session.Report(disk.ErrorRow{Op: "open", Path: l.name, Errno: "EIO",
			Reason: fmt.Sprintf("%d arrival rows had no data any more; they were moved to %s", n.dropped, name)})
	}
	if n.valid < n.size {
		name, err := l.session.Quarantine(f.data, l.name, n.valid, n.size)
		if err != nil {
			return err
		}
		l.session.Report(disk.ErrorRow{Op: "open", Path: l.name, Errno: "EIO",
			Reason: fmt.Sprintf("%d bytes at the end were not a record; they were moved to %s", n.size-n.valid, name)})
		if err := f.data.Truncate(n.valid); err != nil {
			return err
		}
		if err := f.data.Sync(); err != nil {
			return err
		}
	}
	if n.tail.arrivals < n.arrivals {
		if err := f.arrivals.Truncate(n.tail.arrivals); err != nil {
			return err
		}
		// Or the rows could be back after a loss of power, beside other data.
		if err := f.arrivals.Sync(); err != nil {
			return err
		}
	}
	if n.valid > n.tail.size {
		return l.estimate(f, n)
	}
	return nil
}

// estimate writes the row of data that has none.
func (l *Log) estimate(f *logFiles, n *findings) error {
	a := arrival{Off: n.tail.size, Len: n.valid - n.tail.size, Events: -1, Estimated: true}
	sum, err := vfs.HashRange(f.data, a.Off, a.end())
	if err != nil {
		return err
	}
	fi, err := f.data.Stat()
	if err != nil {
		return err
	}
	a.SHA, a.At = sum, fi.ModTime().UnixNano()
	a.Chain = chainNext(n.tail.chain, a.SHA, a.Off, a.Len)
	if l.events != nil {
		a.Events = l.eventsNow(n.tail)
	}
	row := a.appendTo(nil)
	if err := vfs.WriteFull(f.arrivals, row); err != nil {
		f.arrivals.Truncate(n.tail.arrivals)
		return err
	}
	n.tail = logTail{size: n.valid, arrivals: n.tail.arrivals + int64(len(row)), chain: a.Chain, events: a.Events}
	if n.bad > 0 {
		l.session.Report(disk.ErrorRow{Op: "open", Path: l.name, Errno: "EIO",
			Reason: fmt.Sprintf("%d lines behind byte %d are not records; they are served as they are", n.bad, a.Off)})
	}
	return nil
}
