package arrival

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// TornError is the error of a file of rows that ends within one.
type TornError struct{ Bytes int }

// Error returns how much of a row there is.
func (e TornError) Error() string {
	return fmt.Sprintf("the last row is torn: %d bytes without a newline; its write was interrupted, and the next open of the log drops it", e.Bytes)
}

// Printed is what [Print] found in a file of rows.
type Printed struct {
	Rows    int
	Damaged []int // the numbers of lines that are no rows, from 1
}

// Print writes the rows that in holds to out as lines of JSON, a row each, with the chain's value: of
// a row behind a damaged one the first [LinkSize] bytes, until one has it whole. Lines that are no
// rows are left out. It returns a [TornError] where the last row is torn, and the errors of in and
// out.
func Print(out io.Writer, in io.Reader) (p Printed, err error) {
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriter(out)
	var chain Chain
	var printed []byte
	for n := 1; ; n++ {
		line, failed := r.ReadSlice('\n')
		size := len(line)
		for errors.Is(failed, bufio.ErrBufferFull) { // longer than any row
			line, failed = r.ReadSlice('\n')
			size += len(line)
			line = nil
		}
		if failed == io.EOF && size > 0 {
			failed = TornError{size}
		}
		if failed != nil {
			if failed == io.EOF {
				failed = nil
			}
			return p, errors.Join(failed, w.Flush())
		}
		var a Row
		ok := line != nil
		if ok {
			a, ok = ParseRow(line[:len(line)-1])
		}
		if !ok {
			p.Damaged = append(p.Damaged, n)
			chain.Known = false
			continue
		}
		p.Rows++
		chain.Add(&a)
		printed = AppendJSON(printed[:0], &a)
		if _, err := w.Write(printed); err != nil {
			return p, err
		}
	}
}
