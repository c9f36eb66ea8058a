package log

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path"

	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// converted writes the rows of an older version anew, in the present one, and returns the tail as it
// is then. The new file takes the place of the old one by a rename, so that one of both is there
// whenever the process dies or the power goes. Where it cannot be done the old rows stay, new ones
// stand behind them, and the next open tries again. mu is held, and the log's end was repaired.
func (l *Log) converted(f *logFiles, tail Tail) Tail {
	if l.dir.Root.ReadOnly || l.IsBroken() || tail.Arrivals == 0 {
		return tail
	}
	old, err := beginsOld(f.arrivals, tail.Arrivals)
	if err == nil && old {
		c := converter{l: l, f: f, tail: tail, tmp: l.dir.Root.TmpName()}
		if err = c.convert(); err == nil {
			return c.tail
		}
	}
	if err != nil {
		l.dir.Root.Logger.Warn("convert arrival rows", "session", l.dir.ID(), "log", l.name, "err", err)
	}
	return tail
}

// beginsOld reports whether the first row that can be read is of an older version.
func beginsOld(rows vfs.File, size int64) (old bool, err error) {
	first := make([]byte, min(size, 512))
	if err := vfs.ReadFull(rows, first, 0); err != nil {
		return false, err
	}
	look := func(line []byte) (more bool) {
		_, ok := arrival.ParseRow(line)
		old = ok && arrival.IsOld(line)
		return !ok
	}
	if line, _, whole := bytes.Cut(first, []byte{'\n'}); whole && !look(line) {
		return old, nil
	}
	err = vfs.ScanLines(rows, 0, size, func(_, _ int64, line []byte, _ bool) bool { return look(line) })
	return old, err
}

// converter writes the rows of one log anew.
type converter struct {
	l    *Log
	f    *logFiles
	tail Tail   // of the old file, then of the new one
	tmp  string // the new file, until it gets its name
}

// convert puts the new file in the place of the old one. It returns an error, and has changed
// nothing, where it could not.
func (c *converter) convert() error {
	x := c.l.dir
	v, name := x.Root.FS, x.Path(ArrivalsFile(c.l.name))
	rows, err := c.build()
	if err == nil {
		if err = v.Rename(c.tmp, name); err != nil {
			rows.Close()
		}
	}
	if err != nil {
		v.Remove(c.tmp)
		return err
	}
	c.f.arrivals.Close()
	c.f.arrivals = rows
	if few := c.l.few; few != nil {
		few.marks.forget()
	}
	if err := v.SyncDir(path.Dir(name)); err != nil {
		// The old file may be back after a loss of power; it announces the same, but for what comes from now on.
		x.Root.Logger.Warn("sync converted arrival rows", "session", x.ID(), "log", c.l.name, "err", err)
	}
	return nil
}

// build makes the new file, durable, with the owner, mode and time that it is to have, and opens it.
func (c *converter) build() (vfs.File, error) {
	x := c.l.dir
	o, err := x.Owner()
	if err != nil {
		return nil, err
	}
	fi, err := c.f.arrivals.Stat()
	if err != nil {
		return nil, err
	}
	if err := vfs.WriteFileFunc(x.Root.FS, c.tmp, o.FileMode().Perm(), c.write); err != nil {
		return nil, err
	}
	if err := x.Root.Own(c.tmp, o, o.FileMode()); err != nil {
		return nil, err
	}
	// Its time is that of the last commit.
	if err := x.Root.FS.Chtimes(c.tmp, fi.ModTime()); err != nil {
		return nil, err
	}
	return x.Root.FS.OpenFile(c.tmp, os.O_RDWR|os.O_APPEND, 0)
}

// write writes the rows to w. Lines that are no rows stay as they are, so that they are reported as
// before.
func (c *converter) write(w vfs.File) error {
	out := bufio.NewWriterSize(w, 64<<10)
	in := c.l.seed() // the chain as it is read
	chain := in      // and as it is written
	size, line := int64(0), []byte(nil)
	var failed error
	err := vfs.ScanLines(c.f.arrivals, 0, c.tail.Arrivals, func(_, length int64, old []byte, _ bool) bool {
		line = append(append(line[:0], old...), '\n')
		if a, ok := arrival.ParseRow(old); ok {
			if failed = passGap(&in, c.f, &a); failed != nil {
				return false
			}
			in.Add(&a)
			chain.Shorten(&a)
			line = arrival.AppendRow(line[:0], &a)
			chain.Add(&a)
		} else if old == nil && length > 0 {
			failed = errors.New("it has a line that is longer than any row")
			return false
		}
		size += int64(len(line))
		_, failed = out.Write(line)
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if chain.Value != c.tail.Chain || chain.Next != c.tail.Size {
		return errors.New("its rows do not lead to the end of the log")
	}
	c.tail.Arrivals, c.tail.run = size, chain.Run
	if !chain.Known {
		c.tail.run = arrival.ChainEvery
	}
	return out.Flush()
}
