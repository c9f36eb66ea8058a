package log

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Audit is a log that is open to be checked as a whole, with an index that is made from nothing.
type Audit struct {
	Log   *Log
	f     *logFiles
	Tail  Tail  // up to and with the last row
	End   int64 // committed bytes
	fresh logIndex
}

// Audit opens the log to be checked as it is now. The caller closes the audit. It returns the error
// of a log that cannot be opened.
func (l *Log) Audit() (*Audit, error) {
	f, err := l.acquire()
	if err != nil {
		return nil, err
	}
	a := &Audit{Log: l, f: f, fresh: logIndex{log: l, loaded: true}}
	l.mu.Lock()
	defer l.mu.Unlock()
	a.Tail, a.End = f.tail, l.length.Load()
	return a, nil
}

// Close ends the audit.
func (a *Audit) Close() { a.Log.release() }

// Scan reads all records. It returns the error of the disk; damage of a sealed part is none, see
// [Audit.Guessed].
func (a *Audit) Scan() error { return a.fresh.extend(a.f, a.End) }

// Guessed reports whether a part of the log could not be read, so that the index has guessed entries
// for its records.
func (a *Audit) Guessed() bool { return a.fresh.guessed }

// Len returns the number of records.
func (a *Audit) Len() int { return a.fresh.n }

// At returns the entry of a record, but for what rests on the other log and on counts.
func (a *Audit) At(line int) ctxabi.Entry {
	r := a.fresh.at(line)
	return ctxabi.Entry{Offset: r.off, Len: r.len, Weight: r.weight, CallOf: r.callOf, Role: r.role, Flags: r.flags}
}

// Data is what the log holds.
func (a *Audit) Data() io.ReaderAt { return a.f.data }

// Arrivals is the file of the log's arrival rows.
func (a *Audit) Arrivals() vfs.File { return a.f.arrivals }

// Seed is the chain in front of the first row.
func (a *Audit) Seed() arrival.Chain { return a.Log.seed() }

// CheckIndex returns what is wrong with the log's index, a sentence each.
func (a *Audit) CheckIndex(ctx context.Context, ix *Index) (found []string) {
	if ix.n < a.fresh.n {
		found = append(found, fmt.Sprintf("the index has %d records, the log has %d", ix.n, a.fresh.n))
	}
	for line := 1; line <= min(ix.n, a.fresh.n) && ctx.Err() == nil; line++ {
		if ix.row(line) != a.fresh.at(line) {
			found = append(found, fmt.Sprintf("the index is wrong about line %d: %+v, not %+v", line, ix.row(line), a.fresh.at(line)))
		}
	}
	return found
}

// CheckIndexFile returns what is wrong with an index file; "" when it is a beginning of what is
// made from nothing.
func (a *Audit) CheckIndexFile(raw []byte) string {
	if bytes.HasPrefix(raw, []byte(indexMagic2)) {
		return "" // of the form before: it is written anew
	}
	if len(raw) < indexHeader || !bytes.HasPrefix(raw, []byte(indexMagic)) {
		return "it is not an index"
	}
	if !bytes.Equal(raw[:indexHeader], newIndexHeader()) {
		return "another version of ctxfs made it, or it is damaged"
	}
	in, size := bytes.NewReader(raw), int64(len(raw))
	running := uint32(0)
	for k, n := 0, 0; indexSize(n) < size; k++ {
		c, err := readIndexChunk(in, size, k)
		if err != nil || len(c.raw)%indexRow != 0 || len(c.raw) == 0 {
			return "it ends within a row"
		}
		if !c.ok || c.sum != running {
			return fmt.Sprintf("the header before row %d does not match its checksum", n+1)
		}
		why := ""
		c.rows(func(line int, r row) bool {
			switch {
			case line > a.fresh.n:
				why = fmt.Sprintf("it has more rows than the log has records, %d", a.fresh.n)
			case r != a.fresh.at(line):
				why = fmt.Sprintf("row %d does not match record %d", line, line)
			case line%chunkRows == 1 && c.longest != a.fresh.rows.chunk(k).longest:
				why = fmt.Sprintf("the header before row %d does not match the records", line)
			}
			return why == ""
		})
		running = c.running
		if n += c.n; why != "" {
			return why
		}
		if c.n*indexRow < len(c.raw) {
			return fmt.Sprintf("row %d does not match its checksum", n+1)
		}
	}
	return ""
}

// CheckTokensFile reports whether all counts of a file fit their records. One of the first form
// counts as right: it is written anew.
func (a *Audit) CheckTokensFile(raw []byte) bool {
	if bytes.HasPrefix(raw, []byte(tokensMagic1)) {
		return true
	}
	_, ok := a.fresh.readTokens(bytes.NewReader(raw), func(tokenPair) {})
	return ok
}
