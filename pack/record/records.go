package record

import "github.com/ctxfs/ctxfs/ctxabi"

// Records is a snapshot of a log. *log.Index is one.
type Records interface {
	Len() int
	At(line int) ctxabi.Entry        // 1-based
	Record(line int) ([]byte, error) // without its newline
}
