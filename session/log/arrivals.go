package log

import (
	"bytes"
	"errors"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// ArrivalsFile names the file of a log's arrival rows, relative to the session.
func ArrivalsFile(log string) string {
	if log == ctxabi.MessagesFile {
		return ctxabi.InternalDir + "/arrivals"
	}
	return ctxabi.InternalDir + "/arrivals.events"
}

// seed is the chain in front of the log's first row.
func (l *Log) seed() arrival.Chain { return arrival.ChainFrom(l.dir.ID(), l.name) }

// chainAt returns the chain behind the row that ends at the byte end of the file of rows: it goes
// back to one that has the chain's value whole. Where a row between is damaged, the records that it
// announced take its place, if the chain proves them. It returns the error of a read.
func (l *Log) chainAt(f *logFiles, end int64) (arrival.Chain, error) {
	var lines [][]byte // the last one first
	c := l.seed()
	err := vfs.ScanLinesBackward(f.arrivals, end, func(_ int64, line []byte) bool {
		a, ok := arrival.ParseRow(line)
		if ok && a.Whole {
			c.Next, c.Known = a.Off, false
		}
		lines = append(lines, bytes.Clone(line))
		return !ok || !a.Whole
	})
	for i := len(lines) - 1; i >= 0 && err == nil; i-- {
		if a, ok := arrival.ParseRow(lines[i]); ok {
			err = passGap(&c, f, &a)
			c.Add(&a)
		}
	}
	if !c.Known {
		c.Run = arrival.ChainEvery
	}
	return c, err
}

// passGap goes on over bytes that no row announces, to the row a.
func passGap(c *arrival.Chain, f *logFiles, a *arrival.Row) error {
	if a.Off <= c.Next || !c.Known {
		return nil
	}
	sum, err := vfs.HashRange(f.data, c.Next, a.Off)
	switch damage := new(archive.DamageError); {
	case err == nil:
		c.Pass(sum, a)
	case errors.As(err, &damage) || errors.Is(err, io.ErrUnexpectedEOF):
		c.Lose(a.Off)
	default:
		return err
	}
	return nil
}

// extend sets the chain value of a row that comes to stand behind the tail.
func (t *Tail) extend(a *arrival.Row) {
	c := arrival.Chain{Value: t.Chain, Next: t.Size, Known: true, Run: t.run}
	c.Extend(a)
}

// behind returns the tail behind a row that takes size bytes of its file. a.Chain is the chain's
// value, whole.
func (t *Tail) behind(a *arrival.Row, size int) Tail {
	next := Tail{Size: a.End(), Arrivals: t.Arrivals + int64(size), Chain: a.Chain, Events: a.Events, run: t.run + 1}
	if a.Whole {
		next.run = 0
	}
	return next
}
