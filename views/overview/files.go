package overview

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/internal/mounts"
)

// Head is the beginning of a file.
type Head struct {
	Text string
	Size int64 // of the whole, in bytes
	Cut  bool  // it is longer than Text
}

// ReadHead reads at most limit bytes of a file, as valid UTF-8. It returns the error of the file system.
func ReadHead(name string, limit int) (c Head, err error) {
	f, err := os.Open(name)
	if err != nil {
		return c, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return c, err
	}
	c.Size = int64(len(data))
	if len(data) > limit {
		c.Cut = true
		data = Whole(data[:limit])
		if fi, err := f.Stat(); err == nil {
			c.Size = fi.Size()
		}
	}
	c.Text = strings.ToValidUTF8(string(data), "\uFFFD")
	return c, nil
}

// ReadTail reads at most the last limit bytes of a file of lines, whole lines alone; nil if there is no file. It returns
// the error of the file system.
func ReadTail(name string, limit int64) (lines [][]byte, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, fi.Size()-limit)
	data, err := io.ReadAll(io.NewSectionReader(f, from, limit))
	if err != nil {
		return nil, err
	}
	if from > 0 {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			data = data[i+1:]
		}
	}
	for line := range bytes.Lines(data) {
		lines = append(lines, bytes.TrimSuffix(line, []byte("\n")))
	}
	return lines, nil
}

// Whole cuts off the last bytes of text if they are the beginning of a letter.
func Whole(text []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(text)); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// LineOf reads a small file as one line; "" where it cannot be read.
func LineOf(dir, rel string) string {
	c, err := ReadHead(filepath.Join(dir, rel), 4<<10)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(c.Text)
}

// RecordsOf returns how many records a log of the session in dir has.
func RecordsOf(dir, log string) int {
	n, _ := strconv.Atoi(mounts.Attr(filepath.Join(dir, log), "user.ctx.lines"))
	return n
}
