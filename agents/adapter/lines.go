package adapter

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// MaxDocument is how large a transcript that is one JSON value may be, in bytes.
const MaxDocument = 1 << 30

// Line is a line of a transcript, or all of it.
type Line struct {
	// N is its number, from 1, as editors count: blank lines are counted, and
	// skipped. 0 is a whole document.
	N int

	// Bytes is what stands in it, without the blanks around it, in UTF-8. Where
	// Problem is "" it is UTF-8, and may still not be JSON. Of a line that is too
	// large it is the beginning.
	Bytes []byte

	// Problem is why it is of no use, in words, such as "is not valid UTF-8".
	Problem string

	// Torn: it is the last one and has no end. It may be whole all the same.
	Torn bool

	size int64  // of one that is too large, with its end
	Sum  string // its SHA-256
}

// Lines reads a transcript of one record a line: LF or CRLF, UTF-8 or UTF-16,
// with or without a byte order mark. A line that is larger than a record of a
// session can be is not held in memory.
type Lines struct {
	r *bufio.Reader
	n int
}

// NewLines reads from r.
func NewLines(r io.Reader) *Lines { return &Lines{r: Decoded(r)} }

// Next returns the next line that is not blank, and io.EOF behind the last one.
// The line is the caller's. Another error is one of reading.
func (l *Lines) Next() (Line, error) {
	for {
		line, err := l.NextOf(ctxabi.MaxRecord)
		if err != nil || len(line.Bytes) > 0 {
			return line, err
		}
	}
}

// NextObject returns the next line as [Lines.Next] does, and the object that it is; without white space, its bytes are raw. A line that is
// none has a Problem, and its bytes stand in raw as they are. NextObject returns the errors of Next.
func (l *Lines) NextObject() (line Line, o Object, raw json.RawMessage, err error) {
	if line, err = l.Next(); err != nil {
		return line, nil, nil, err
	}
	raw = line.Bytes
	if line.Problem == "" && !IsDict(raw) {
		line.Problem = notAnObject
	}
	if line.Problem == "" {
		raw = CompactJSON(raw)
		var bad error
		if o, bad = ParseObject(raw); bad != nil {
			line.Problem = notAnObject
		}
	}
	return line, o, raw, nil
}

// notAnObject is the problem of a line that is no JSON object.
const notAnObject = "is not a JSON object"

// NextOf returns the next line, of at most limit bytes: of a longer one no more is kept than its beginning. Its errors are those of Next.
func (l *Lines) NextOf(limit int) (line Line, err error) {
	l.n++
	line.N = l.n
	var large hash.Hash
	for {
		var piece []byte
		piece, err = l.r.ReadSlice('\n')
		line.size += int64(len(piece))
		switch {
		case large != nil:
			large.Write(piece)
		case len(line.Bytes)+len(piece) > limit+2: // the blanks at its end may be what is too much
			large = sha256.New()
			large.Write(line.Bytes)
			large.Write(piece)
			line.Bytes = bytes.Clone(line.Bytes[:min(len(line.Bytes), 64<<10)])
		default:
			line.Bytes = append(line.Bytes, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if err != nil && (err != io.EOF || line.size == 0) {
		return Line{}, err
	}
	line.Torn = err == io.EOF
	line.judge(large, limit)
	return line, nil
}

// judge fills in what is wrong with a line that was read.
func (l *Line) judge(large hash.Hash, limit int) {
	if large != nil {
		l.Sum = hex.EncodeToString(large.Sum(nil))
		l.Problem = fmt.Sprintf("is too large: %d bytes, the limit is %d", l.size, limit)
		return
	}
	l.Bytes = bytes.Trim(l.Bytes, " \t\r\n")
	switch {
	case !utf8.Valid(l.Bytes):
		l.Problem = "is not valid UTF-8"
	case bytes.IndexByte(l.Bytes, 0) >= 0:
		l.Problem = "contains a NUL byte"
	}
}

// ReadDocument reads a transcript that is one JSON value, decoded as [Lines]
// are. One of nothing but blanks has no Bytes. It returns the error of r.
func ReadDocument(r io.Reader) (Line, error) {
	b, err := io.ReadAll(io.LimitReader(Decoded(r), MaxDocument+1))
	if err != nil {
		return Line{}, err
	}
	doc := Line{Bytes: b, Torn: true}
	if len(b) > MaxDocument {
		doc.Bytes = bytes.Clone(b[:64<<10])
		doc.Problem = fmt.Sprintf("is too large: the limit is %d bytes", MaxDocument)
		doc.size, doc.Sum = int64(len(b)), contentSum(b)
		return doc, nil
	}
	doc.judge(nil, 0)
	return doc, nil
}

// Where names the line for a [Loss].
func (l Line) Where() string {
	if l.N == 0 {
		return "the document"
	}
	return fmt.Sprintf("line %d", l.N)
}

// Decoded reads r as UTF-8 without a byte order mark.
func Decoded(r io.Reader) *bufio.Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(3)
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		b.Discard(3)
		return b
	}
	if order, ok := utf16Order(head); ok {
		return bufio.NewReaderSize(transform.NewReader(b, unicode.UTF16(order, unicode.UseBOM).NewDecoder()), 64<<10)
	}
	return b
}

// utf16Order knows UTF-16 by its byte order mark, or by the first character of
// a JSON value, which is ASCII.
func utf16Order(head []byte) (order unicode.Endianness, ok bool) {
	if len(head) < 2 {
		return order, false
	}
	switch {
	case head[0] == 0xff && head[1] == 0xfe, head[0] != 0 && head[1] == 0:
		return unicode.LittleEndian, true
	case head[0] == 0xfe && head[1] == 0xff, head[0] == 0 && head[1] != 0:
		return unicode.BigEndian, true
	}
	return order, false
}

// Decode returns the beginning of a transcript, or all of it, as [Lines] read it.
func Decode(head []byte) []byte {
	b, err := io.ReadAll(Decoded(bytes.NewReader(head)))
	if err != nil {
		return head
	}
	return b
}

func contentSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
