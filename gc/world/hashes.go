package world

import (
	"context"
	"io"
)

// hashDigits is how many hex digits a SHA-256 has.
const hashDigits = 64

var isHexDigit = func() (is [256]bool) {
	for _, c := range []byte("0123456789abcdef") {
		is[c] = true
	}
	return is
}()

// scanAll calls yield for each hash in data: each run of exactly 64 lower-case hex digits.
func scanAll(data []byte, yield func(hash []byte)) {
	scanBlock(data, func(at int) { yield(data[at : at+hashDigits]) })
}

// scanBlock calls yield with the offset of each hash in data. Where there are no digits it reads
// every 64th byte only.
func scanBlock(data []byte, yield func(at int)) {
	for i := hashDigits - 1; i < len(data); {
		if !isHexDigit[data[i]] {
			i += hashDigits
			continue
		}
		begin, end := i, i+1
		for begin > 0 && isHexDigit[data[begin-1]] {
			begin--
		}
		for end < len(data) && isHexDigit[data[end]] {
			end++
		}
		if end-begin == hashDigits {
			yield(begin)
		}
		i = end + hashDigits
	}
}

// scanHashes is scanAll for the bytes of r; off is the offset of a hash in them. It returns the
// error of r, and ctx.Err() if ctx ended.
func scanHashes(ctx context.Context, r io.Reader, yield func(off int64, hash []byte)) error {
	buf := make([]byte, 256<<10)
	kept, base := 0, int64(0) // bytes at the beginning of buf that were read before, and where they stand
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(r, buf[kept:])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		data := buf[:kept+n]
		// A run of digits at the end may go on. One digit more than a hash has is enough of it.
		run := 0
		if err == nil {
			for run <= hashDigits && run < len(data) && isHexDigit[data[len(data)-1-run]] {
				run++
			}
		}
		whole := data[:len(data)-run]
		scanBlock(whole, func(at int) {
			if run == 0 || at+hashDigits < len(whole) {
				yield(base+int64(at), whole[at:at+hashDigits])
			}
		})
		if err != nil {
			return nil
		}
		base += int64(len(whole))
		kept = copy(buf, data[len(whole):])
	}
}
