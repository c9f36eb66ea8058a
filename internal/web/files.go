package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/inspect"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// cut is the beginning of a file.
type cut struct {
	Text string
	Size int64 // of the whole, in bytes
	Cut  bool  // it is longer than Text
}

// readHead reads at most limit bytes of a file, as valid UTF-8.
func readHead(name string, limit int) (c cut, err error) {
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
		data = whole(data[:limit])
		if fi, err := f.Stat(); err == nil {
			c.Size = fi.Size()
		}
	}
	c.Text = strings.ToValidUTF8(string(data), "\uFFFD")
	return c, nil
}

// readTail reads at most the last limit bytes of a file of lines, whole lines alone.
func readTail(name string, limit int64) (lines [][]byte, err error) {
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

// whole cuts off the last bytes of text if they are the beginning of a letter.
func whole(text []byte) []byte {
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

// lineOf reads a small file as one line; "" where it cannot be read.
func lineOf(dir, rel string) string {
	c, err := readHead(filepath.Join(dir, rel), 4<<10)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(c.Text)
}

// records returns how many records a log of the session in dir has.
func records(dir, log string) int {
	n, _ := strconv.Atoi(mounts.Attr(filepath.Join(dir, log), "user.ctx.lines"))
	return n
}

// glimpse is a record as one bar of a ribbon and its first words.
type glimpse struct {
	N      int    `json:"n"`
	Role   string `json:"role"`
	Tokens int    `json:"tokens"` // about
	First  string `json:"first"`
}

// Limits of what is read of a record.
const (
	maxGlimpse = 64 << 10 // bytes, to find who speaks
	maxFirst   = 120      // letters of the first words
)

// glimpseOf reads the beginning of a record of the session in dir.
func glimpseOf(dir string, a inspect.Address) glimpse {
	g := glimpse{N: a.N, Role: "unknown"}
	c, err := readHead(filepath.Join(dir, a.Path()), maxGlimpse)
	if err != nil {
		g.First = reason(err)
		return g
	}
	if a.Event {
		g.Role = "event"
		var e struct{ Type, Name string }
		if json.Unmarshal([]byte(c.Text), &e) == nil {
			g.First = oneLine(e.Type+" "+e.Name, maxFirst)
		}
		g.Tokens = ctxabi.Weight(c.Text)
	} else if c.Cut {
		if g.Role = roleOf(c.Text); g.Role == "unknown" {
			g.Role = lastRole(filepath.Join(dir, a.Path()), c.Size)
		}
		g.Tokens = int(float64(ctxabi.Weight(c.Text)) * float64(c.Size) / float64(len(c.Text)))
		g.First = oneLine(c.Text, maxFirst)
	} else {
		m := ctxabi.DecodeMessage([]byte(c.Text))
		g.Role = m.Role.String()
		text := m.Text
		for _, call := range m.Calls {
			text += " → " + call.Name + " " + string(call.Arguments)
		}
		for _, r := range m.Results {
			text += " " + r.Text
		}
		if m.Name != "" {
			text = m.Name + ": " + text
		}
		g.Tokens, g.First = ctxabi.Weight(text), oneLine(text, maxFirst)
	}
	if g.First == "" {
		g.First = "nothing but a heading"
	}
	return g
}

// roleOf finds the role of a record of which only the beginning was read.
func roleOf(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	for depth, key := 0, ""; ; {
		t, err := d.Token()
		if err != nil {
			return "unknown"
		}
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else {
				depth--
			}
			key = ""
		case string:
			if depth == 1 && key == "role" {
				return t
			}
			if depth == 1 && key == "" {
				key = t
				continue
			}
			key = ""
		default:
			key = ""
		}
	}
}

// roleField is the field of a record that says who speaks. In a text its quotes would be escaped.
var roleField = regexp.MustCompile(`(?:^|[^\\])"role"\s*:\s*"(user|assistant|tool|system|developer)"`)

// lastRole finds the role of a record at its end, where some programs write it.
func lastRole(name string, size int64) string {
	f, err := os.Open(name)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	const most = 4 << 10
	tail, err := io.ReadAll(io.NewSectionReader(f, max(0, size-most), most))
	found := roleField.FindAllSubmatch(tail, -1)
	if err != nil || found == nil {
		return "unknown"
	}
	return string(found[len(found)-1][1])
}

// oneLine returns the beginning of a text on one line, at most n letters, without control characters.
func oneLine(text string, n int) string {
	if len(text) > 16*n {
		text = string(whole([]byte(text[:16*n])))
	}
	text = strings.Join(strings.Fields(visible(text)), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
