package vfs

import (
	"bytes"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// ScanLines reads [from, to) of f and yields each line: where it begins, its length without the
// newline, its bytes (nil when it is longer than any record may be; valid until yield returns) and
// whether it ends in a newline, which only the last one may not. It reads in blocks and keeps one
// block in memory, or one record when that is larger. It returns the error of a read,
// io.ErrUnexpectedEOF where f is shorter.
func ScanLines(f io.ReaderAt, from, to int64, yield func(off, length int64, line []byte, whole bool) bool) error {
	const block = 1 << 20
	buf := make([]byte, 0, min(block, to-from))
	begin := from        // offset of buf[0], where a line begins
	skipped := int64(-1) // ≥ 0: so many bytes of an oversized line were let go
	for off := from; off < to; {
		if len(buf) == cap(buf) {
			if len(buf) > ctxabi.MaxRecord {
				skipped = max(skipped, 0) + int64(len(buf))
				buf = buf[:0]
			} else {
				buf = append(make([]byte, 0, 2*cap(buf)), buf...)
			}
		}
		n := min(int64(cap(buf)-len(buf)), to-off)
		fresh := len(buf)
		buf = buf[:fresh+int(n)]
		if err := ReadFull(f, buf[fresh:], off); err != nil {
			return err
		}
		off += n
		rest := buf
		for search := fresh; ; search = 0 {
			i := bytes.IndexByte(rest[search:], '\n')
			if i < 0 {
				break
			}
			i += search
			line, length := rest[:i:i], int64(i)
			if skipped >= 0 {
				line, length, skipped = nil, skipped+int64(i), -1
			}
			if !yield(begin, length, line, true) {
				return nil
			}
			begin += length + 1
			rest = rest[i+1:]
		}
		buf = buf[:copy(buf, rest)]
	}
	if skipped >= 0 {
		yield(begin, skipped+int64(len(buf)), nil, false)
	} else if len(buf) > 0 {
		yield(begin, int64(len(buf)), buf, false)
	}
	return nil
}

// ScanLinesBackward returns the complete lines of the first size bytes of f from the last to the
// first, each with the offset where it begins. It stops when yield says so and reads no further
// than that. A tail without a newline is not a line. It returns the error of a read.
func ScanLinesBackward(f File, size int64, yield func(off int64, line []byte) bool) error {
	var tail []byte // [start, start+len(tail)) of the file, ending in a newline once trimmed
	start, step := size, int64(16<<10)
	trimmed := false
	for {
		for {
			if !trimmed {
				i := bytes.LastIndexByte(tail, '\n')
				if i < 0 {
					break
				}
				tail, trimmed = tail[:i+1], true
			}
			if len(tail) == 0 {
				break
			}
			i := bytes.LastIndexByte(tail[:len(tail)-1], '\n')
			if i < 0 && start > 0 {
				break
			}
			if !yield(start+int64(i+1), tail[i+1:len(tail)-1]) {
				return nil
			}
			tail = tail[:i+1]
		}
		if start == 0 {
			return nil
		}
		n := min(step, start)
		step = min(step*4, 16<<20)
		grown := make([]byte, n, n+int64(len(tail)))
		if err := ReadFull(f, grown, start-n); err != nil {
			return err
		}
		start, tail = start-n, append(grown, tail...)
	}
}
