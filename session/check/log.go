package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// checkLog looks at a log with its arrival rows, its index and its counts. It says whether the log
// can be opened now.
func (t *sessionTree) checkLog(ctx context.Context, l *log.Log) (opens bool, err error) {
	v := t.c.s.Disk().FS
	read := func(rel string) []byte {
		raw, err := vfs.ReadFile(v, path.Join(t.dir, rel))
		if err != nil {
			return nil
		}
		return raw
	}
	// The caches first: a daemon writes them last, and an open cuts them.
	index, counts := read(log.IndexFile(l.Name())), read(log.TokensFile(l.Name()))
	if !t.checkEnd(l) {
		return false, nil
	}
	a, err := l.Audit()
	if err != nil {
		return false, err
	}
	defer a.Close()
	found, err := verify(ctx, a)
	for _, p := range found.found {
		t.report(p.Log, p.severity(), NoRemedy, "%s", p.What)
	}
	if err != nil {
		return false, err
	}
	remove := func(rel string) Remedy {
		return Remedy{"removed; it is rebuilt when it is needed", func() error { return v.Remove(path.Join(t.dir, rel)) }}
	}
	if a.Guessed() { // part of the log cannot be read: the caches may know more
		return true, nil
	}
	if why := a.CheckIndexFile(index); index != nil && why != "" {
		t.report(log.IndexFile(l.Name()), Rebuildable, remove(log.IndexFile(l.Name())), "%s", why)
	}
	if counts != nil && !a.CheckTokensFile(counts) {
		t.report(log.TokensFile(l.Name()), Rebuildable, remove(log.TokensFile(l.Name())), "it has counts that do not match their records or their checksums")
	}
	if t.c.o.Repair {
		_, err = l.Index()
	}
	return err == nil, err
}

// checkEnd looks at what an open would find at the end of a log. It says whether the log can be
// opened now.
func (t *sessionTree) checkEnd(l *log.Log) (opens bool) {
	v := t.c.s.Disk().FS
	var files [2]vfs.File
	missing := [2]bool{}
	t.checkNoList(l)
	for i, rel := range []string{l.Name(), log.ArrivalsFile(l.Name())} {
		fi, err := v.Stat(path.Join(t.dir, rel))
		if err == nil && !fi.Mode().IsRegular() { // reported already
			missing[i] = true
			continue
		}
		if err == nil {
			files[i], err = v.OpenFile(path.Join(t.dir, rel), os.O_RDONLY, 0)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing[i] = true
		case err != nil:
			t.report(rel, Lost, NoRemedy, "it cannot be read: %v", err)
			missing[i] = true
		default:
			defer files[i].Close()
		}
	}
	open := Remedy{"", func() error {
		if err := l.Open(); err != nil {
			return err
		}
		if l.IsBroken() {
			return errors.New("the disk did not store it")
		}
		return nil
	}}
	do := func(words string) Remedy { return Remedy{words, open.do} }
	switch {
	case missing[0] && missing[1]:
		t.report(l.Name(), Lost, do("created, empty"), "the log and its arrival rows are missing: its records are lost")
	case missing[0]:
		n, bytes := t.announced(files[1])
		if n == 0 {
			t.report(l.Name(), Rebuildable, do("created, empty"), "the log is missing; it has no arrival rows")
		} else {
			t.report(l.Name(), Lost, do("created, empty; the rows were moved to the quarantine"), "the log is missing: %d commits of %d bytes are lost", n, bytes)
		}
	case missing[1]:
		fi, err := files[0].Stat()
		if err == nil && fi.Size() == 0 {
			t.report(log.ArrivalsFile(l.Name()), Rebuildable, do("created"), "the arrival rows are missing")
		} else {
			t.report(log.ArrivalsFile(l.Name()), Lost, do("all records got one row, marked estimated"), "the arrival rows are missing: who wrote the records, and when, is lost")
		}
	default:
		if err := t.tail(l, files[1], do); err != nil {
			t.report(l.Name(), Lost, NoRemedy, "it cannot be read: %v", err)
			return false
		}
		return true
	}
	return t.c.o.Repair
}

// checkNoList misses the list of sealed parts where there are some.
func (t *sessionTree) checkNoList(l *log.Log) {
	v := t.c.s.Disk().FS
	list := archive.ListFile(l.Name())
	if _, err := v.Stat(path.Join(t.dir, list)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	entries, _ := v.ReadDir(t.dir)
	for _, e := range entries {
		if log, _, ok := archive.ParsePartName(e.Name()); ok && log == l.Name() {
			r := Remedy{"rebuilt from the sealed parts", l.Open}
			t.report(list, Rebuildable, r, "the list of sealed parts is missing")
			return
		}
	}
}

// announced counts the rows of a file and the bytes that they tell of.
func (t *sessionTree) announced(f vfs.File) (n int, size int64) {
	if fi, err := f.Stat(); err == nil {
		vfs.ScanLines(f, 0, fi.Size(), func(_, _ int64, line []byte, _ bool) bool {
			if a, ok := arrival.ParseRow(line); ok {
				n++
				size = max(size, a.End())
			}
			return true
		})
	}
	return n, size
}

// tail reports what an open repairs at the end of a log.
func (t *sessionTree) tail(l *log.Log, arrivalRows vfs.File, do func(string) Remedy) error {
	n, err := l.ExamineUnchanged(arrivalRows)
	if err != nil {
		return err
	}
	rows, bad, torn, reach := 0, 0, false, int64(0)
	err = vfs.ScanLines(arrivalRows, n.Tail.Arrivals, n.Arrivals, func(_, _ int64, line []byte, whole bool) bool {
		a, ok := arrival.ParseRow(line)
		switch {
		case !whole:
			torn = true
		case !ok:
			bad++
		default:
			rows++
			reach = max(reach, a.End())
		}
		return true
	})
	if err != nil {
		return err
	}
	arrivals := log.ArrivalsFile(l.Name())
	if reach > n.Valid {
		hint := ""
		if rows == 1 {
			hint = "; an interrupted write leaves this, too"
		}
		t.report(l.Name(), Lost, do("its rows were dropped; what is not a record was moved to the quarantine"), "bytes %d-%d, which belong to the last %d of the arrival rows, are not what arrived%s", n.Valid, reach, rows, hint)
	} else if rows > 0 {
		t.report(l.Name(), Lost, do("the present records got one row, marked estimated"), "bytes %d-%d do not match the last %d of the arrival rows", n.Tail.Size, reach, rows)
	}
	if bad > 0 || torn && n.Records > 0 {
		sev, what := Lost, fmt.Sprintf("the last %d of the arrival rows are damaged: who wrote the records after byte %d, and when, is lost", bad+count(torn), n.Tail.Size)
		if n.Records == 0 {
			sev, what = Odd, "there are lines at the end that are not arrival rows; no record is affected"
		}
		t.report(arrivals, sev, do("moved to the quarantine; the records got one row, marked estimated"), "%s", what)
	} else if torn {
		t.report(arrivals, Odd, do("dropped"), "the last row is incomplete: its write was interrupted")
	} else if rows == 0 && n.Records > 0 {
		t.report(arrivals, Rebuildable, do("they got one row, marked estimated"), "the last %d records, after byte %d, have no row: power was lost, or they were added past the mount", n.Records, n.Tail.Size)
	}
	if n.Size > n.Valid && reach <= n.Valid {
		t.report(l.Name(), Odd, do("moved to the quarantine"), "the %d bytes after the last record, from byte %d on, are not a record", n.Size-n.Valid, n.Valid)
	}
	return nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
