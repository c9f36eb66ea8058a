package adapter

import (
	"bytes"
	"io"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Told is a text that the model of a transcript has before it.
type Told struct {
	Text string
	Hook bool // a hook of the program put it there
}

// File is a transcript that supports reading from its end.
type File interface {
	io.ReaderAt
	io.Seeker
}

// backStep is the minimum number of bytes that EachObjectBack reads at once.
const backStep = 256 << 10

// EachObjectBack calls do with each line that is a JSON object, from the last to the first, until
// do returns false. It reads only the necessary part of the file, except that it reads a UTF-16
// file as a whole. It returns an error if reading fails.
func EachObjectBack(file File, do func(gjson.Result) bool) error {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	var text io.ReaderAt = file
	head := make([]byte, min(3, end))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	if _, wide := utf16Order(head); wide {
		all, err := io.ReadAll(Decoded(io.NewSectionReader(file, 0, end)))
		if err != nil {
			return err
		}
		text, end = bytes.NewReader(all), int64(len(all))
	}
	goesOn := func(line []byte) bool {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		if len(line) == 0 || len(line) > ctxabi.MaxRecord || !gjson.ValidBytes(line) {
			return true
		}
		o := gjson.ParseBytes(line)
		return !o.IsObject() || do(o)
	}
	var rest []byte // the end of a line that begins further up
	for step := int64(backStep); end > 0; {
		n := min(step, end)
		buf := make([]byte, n, n+int64(len(rest)))
		if _, err := text.ReadAt(buf, end-n); err != nil && err != io.EOF {
			return err
		}
		end -= n
		buf = append(buf, rest...)
		i := bytes.LastIndexByte(buf, '\n')
		if i < 0 {
			step *= 2 // so that a long line is not copied for each step
		}
		for ; i >= 0; i = bytes.LastIndexByte(buf, '\n') {
			if !goesOn(buf[i+1:]) {
				return nil
			}
			buf = buf[:i]
			step = backStep
		}
		rest = buf
	}
	goesOn(rest)
	return nil
}

// Texts appends the strings in a value, in their order.
func Texts(told []Told, v gjson.Result, hook bool) []Told {
	if v.Type == gjson.String {
		return append(told, Told{v.Str, hook})
	}
	if v.IsArray() || v.IsObject() {
		v.ForEach(func(_, child gjson.Result) bool {
			told = Texts(told, child, hook)
			return true
		})
	}
	return told
}
