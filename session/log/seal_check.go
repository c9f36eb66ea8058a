package log

import (
	"bufio"
	"crypto/sha256"
	"errors"
	stdhash "hash"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// rowCheck compares bytes that are written to it with what arrival rows announce. It holds one row
// at a time.
type rowCheck struct {
	l    *Log
	rows *bufio.Reader // those behind row
	row  arrival.Row   // that announces the byte at off
	off  int64
	to   int64        // where the last row ends
	last arrival.Hash // the chain's value there
	sum  stdhash.Hash
}

// newRowCheck checks the chain of the rows of [from, to), and is ready to compare what is written
// from there on.
func newRowCheck(l *Log, f *logFiles, from, to, end int64) (*rowCheck, error) {
	c := &rowCheck{l: l, to: to, sum: sha256.New()}
	odd := func(at int64) error {
		return ctxabi.E("archive", l.name, ctxabi.ErrIO, "the arrival rows do not match the log at byte %d; the log was not archived (see ctxfs verify)", at)
	}
	begin, err := seekArrival(f.arrivals, end, max(from-1, 0))
	if err != nil {
		return nil, err
	}
	chain, err := l.chainAt(f, begin)
	if err != nil {
		return nil, err
	}
	first := int64(-1) // where the first row that counts stands
	var failed error
	err = vfs.ScanLines(f.arrivals, begin, end, func(at, _ int64, line []byte, whole bool) bool {
		a, ok := arrival.ParseRow(line)
		if !ok || !whole {
			failed = odd(max(chain.Next, from))
			return false
		}
		known, next := chain.Known, chain.Next
		switch follows := chain.Add(&a); {
		case a.End() <= from: // in front of what is sealed
		case known && !follows || a.Off > max(next, from) || a.End() > to:
			failed = odd(a.Off)
		case first < 0:
			first = at
		}
		return failed == nil && chain.Next < to
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	if chain.Next != to || first < 0 {
		return nil, odd(from)
	}
	c.last = chain.Value
	c.rows = bufio.NewReaderSize(io.NewSectionReader(f.arrivals, first, end-first), 64<<10)
	if err := c.nextRow(); err != nil {
		return nil, err
	}
	if c.row.Off > from {
		return nil, odd(from)
	}
	c.off = c.row.Off
	if c.off < from { // a row that was made at an open covers sealed records, too
		_, err = io.Copy(c, io.NewSectionReader(f.data, c.off, from-c.off))
	}
	return c, err
}

// nextRow goes on to a row that was looked at before.
func (c *rowCheck) nextRow() error {
	line, err := c.rows.ReadSlice('\n')
	if err != nil {
		return err
	}
	row, ok := arrival.ParseRow(line[:len(line)-1])
	if !ok {
		return io.ErrUnexpectedEOF
	}
	c.row = row
	return nil
}

func (c *rowCheck) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if c.off == c.to {
			return 0, errors.New("it is longer than what was written")
		}
		if c.off == c.row.End() {
			if err := c.nextRow(); err != nil {
				return 0, err
			}
		}
		take := min(int64(len(b)), c.row.End()-c.off)
		c.sum.Write(b[:take])
		b, c.off = b[take:], c.off+take
		if c.off < c.row.End() {
			break
		}
		if arrival.Hash(c.sum.Sum(nil)) != c.row.SHA {
			return 0, ctxabi.E("archive", c.l.name, ctxabi.ErrIO,
				"bytes %d to %d are not what arrived; the log was not archived (see ctxfs verify)", c.row.Off, c.row.End())
		}
		c.sum.Reset()
	}
	return n, nil
}

func (c *rowCheck) done() error {
	if c.off != c.to {
		return io.ErrUnexpectedEOF
	}
	return nil
}
