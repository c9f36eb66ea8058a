package log

import (
	"errors"
	"fmt"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Findings is what opening a log found at its end.
type Findings struct {
	Tail     Tail   // up to and with the last row that has its data (the anchor)
	dropped  int    // complete rows behind the anchor
	Records  int    // valid records that no row covers
	bad      int    // invalid lines among them
	Valid    int64  // end of the last valid record: the log's length
	Size     int64  // of the data file
	Arrivals int64  // size of the arrivals file
	odd      string // a mismatch that stays, in words; or ""
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
// If the end of a log cannot be repaired, readers get the log up to its last valid record, and the
// log refuses appends. If a full disk is the cause, it accepts them again once the disk has space.
// Finally, recover converts rows of an older version.
func (l *Log) recover(f *logFiles) (Tail, int64, error) {
	n, err := l.examine(f)
	if err != nil {
		return Tail{}, 0, err
	}
	if l.dir.Root.ReadOnly || l.broken.Load() {
		return n.Tail, n.Valid, nil
	}
	if n.odd != "" {
		l.dir.Report(disk.ErrorRow{Op: "open", Path: l.name, Errno: "EIO", Reason: n.odd})
	}
	// The index first: once new rows stand where lost ones did, nobody could
	// tell that it describes the lost ones.
	err = (&logIndex{log: l}).trim(n.Tail.Size) // in its file: nobody has the index yet
	if err == nil {
		err = l.repair(f, n)
	}
	if errors.Is(err, ctxabi.ErrNoFiles) {
		return Tail{}, 0, err // the disk is as good as before: the next open finds the same and does the rest
	}
	if err != nil {
		l.breakDown("repair", err)
		f.torn = l.full.Load()
	}
	return l.converted(f, n.Tail), n.Valid, nil
}

// ExamineUnchanged reads the end of both files as who may not repair the log sees it, and changes
// nothing. arrivals are the log's rows. It returns the error of a log that cannot be read.
func (l *Log) ExamineUnchanged(arrivals vfs.File) (*Findings, error) {
	look := new(Log)
	look.Init(l.dir.Unchanged(), new(Set), nil, l.name)
	data, err := look.openData(arrivals)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	return look.examine(&logFiles{data: data, arrivals: arrivals})
}

// examine reads the end of both files and changes nothing.
func (l *Log) examine(f *logFiles) (*Findings, error) {
	fi, err := f.arrivals.Stat() // before the data's: a daemon beside us writes rows first
	if err != nil {
		return nil, err
	}
	n := &Findings{Arrivals: fi.Size()}
	if fi, err = f.data.Stat(); err != nil {
		return nil, err
	}
	n.Size = fi.Size()

	sealed := f.data.Sealed() // was verified when it was; it may be damaged, and is not read
	var failed error
	err = vfs.ScanLinesBackward(f.arrivals, n.Arrivals, func(off int64, line []byte) bool {
		a, ok := arrival.ParseRow(line)
		if ok && a.End() <= n.Size {
			same := a.End() <= sealed
			if a.Off >= sealed {
				if same, failed = l.matches(f, &a); failed != nil {
					return false
				}
			}
			intact := same
			if !same {
				if intact, failed = l.allValid(f, max(a.Off, sealed), a.End()); failed != nil {
					return false
				}
				if intact && a.Off >= sealed {
					n.odd = fmt.Sprintf("bytes %d to %d were changed after they were appended; ctxfs serves them as they are now", a.Off, a.End())
				}
			}
			if intact {
				n.Tail = Tail{Size: a.End(), Arrivals: off + int64(len(line)) + 1, Events: a.Events}
				return false
			}
		}
		n.dropped++
		return true
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	chain, err := l.chainAt(f, n.Tail.Arrivals)
	if err != nil {
		return nil, err
	}
	n.Tail.Chain, n.Tail.run = chain.Value, chain.Run
	n.Valid = max(n.Tail.Size, sealed)
	bad := 0
	err = vfs.ScanLines(f.data, n.Valid, n.Size, func(off, length int64, line []byte, whole bool) bool {
		if !whole || line == nil || l.check(line) != nil {
			bad++
			return true
		}
		n.Records++
		n.bad += bad
		bad = 0
		n.Valid = off + length + 1
		return true
	})
	return n, err
}

// matches reports whether the data of a row is what was announced.
func (l *Log) matches(f *logFiles, a *arrival.Row) (bool, error) {
	sum, err := vfs.HashRange(f.data, a.Off, a.End())
	return sum == a.SHA, err
}

// allValid reports whether a range is whole valid records.
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
func (l *Log) repair(f *logFiles, n *Findings) error {
	if n.dropped > 1 {
		// One row is what a killed daemon leaves. More is lost power or a log cut
		// by hand: the rows are evidence.
		name, err := l.dir.Quarantine(f.arrivals, path.Base(ArrivalsFile(l.name)), n.Tail.Arrivals, n.Arrivals)
		if err != nil {
			return err
		}
		l.dir.Report(disk.ErrorRow{Op: "open", Path: l.name, Errno: "EIO",
			Reason: fmt.Sprintf("%d arrival rows had no data; they were moved to %s", n.dropped, name)})
	}
	if n.Valid < n.Size {
		name, err := l.dir.Quarantine(f.data, l.name, n.Valid, n.Size)
		if err != nil {
			return err
		}
		l.dir.Report(disk.ErrorRow{Op: "open", Path: l.name, Errno: "EIO",
			Reason: fmt.Sprintf("%d bytes at the end were not a record; they were moved to %s", n.Size-n.Valid, name)})
		if err := f.data.Truncate(n.Valid); err != nil {
			return err
		}
		if err := f.data.Sync(); err != nil {
			return err
		}
	}
	if n.Tail.Arrivals < n.Arrivals {
		if err := f.arrivals.Truncate(n.Tail.Arrivals); err != nil {
			return err
		}
		// Or the rows could be back after a loss of power, beside other data.
		if err := f.arrivals.Sync(); err != nil {
			return err
		}
	}
	if n.Valid > n.Tail.Size {
		return l.estimate(f, n)
	}
	return nil
}

// estimate writes the row of data that has none.
func (l *Log) estimate(f *logFiles, n *Findings) error {
	a := arrival.Row{Off: n.Tail.Size, Len: n.Valid - n.Tail.Size, Events: -1, Estimated: true}
	sum, err := vfs.HashRange(f.data, a.Off, a.End())
	if err != nil {
		return err
	}
	fi, err := f.data.Stat()
	if err != nil {
		return err
	}
	a.SHA, a.At = sum, fi.ModTime().UnixNano()
	n.Tail.extend(&a)
	if l.events != nil {
		a.Events = l.eventsNow(n.Tail)
	}
	row := arrival.AppendRow(nil, &a)
	if err := vfs.WriteFull(f.arrivals, row); err != nil {
		f.arrivals.Truncate(n.Tail.Arrivals)
		return err
	}
	n.Tail = n.Tail.behind(&a, len(row))
	if n.bad > 0 {
		l.dir.Report(disk.ErrorRow{Op: "open", Path: l.name, Errno: "EIO",
			Reason: fmt.Sprintf("%d lines after byte %d are not records; ctxfs serves them as they are", n.bad, a.Off)})
	}
	return nil
}
