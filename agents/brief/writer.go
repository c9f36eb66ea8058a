package brief

import (
	"context"
	"os"
	"strings"
	"unicode/utf8"
)

// Share is how many characters a section takes at most, where nothing else is said.
const Share = 1_500

// Writer collects text up to a number of characters.
type Writer struct {
	ctx  context.Context
	b    strings.Builder
	left int
	late []string
}

// NewWriter returns a writer of at most n characters. It reads files until ctx ends.
func NewWriter(ctx context.Context, n int) *Writer { return &Writer{ctx: ctx, left: n} }

// String returns what was written.
func (w *Writer) String() string { return w.b.String() }

// Left returns how many characters fit in.
func (w *Writer) Left() int { return w.left }

// Over reports whether the context of w is done.
func (w *Writer) Over() bool { return w.ctx.Err() != nil }

// Late returns the files that could not be read in time.
func (w *Writer) Late() []string { return w.late }

// Add writes s; nothing if it does not fit.
func (w *Writer) Add(s string) {
	if n := utf8.RuneCountInString(s); n <= w.left {
		w.b.WriteString(s)
		w.left -= n
	}
}

// Read returns what a file has, without blanks around it; "" where it cannot be read or has nothing. When the context of w
// has ended it waits no longer.
func (w *Writer) Read(name string) string {
	text := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile(name)
		text <- strings.TrimSpace(string(b))
	}()
	select {
	case s := <-text:
		return s
	case <-w.ctx.Done():
		w.late = append(w.late, name)
		return ""
	}
}

// Head returns the heading of a section, with the blank line above it.
func Head(title string) string { return "\n## " + title + "\n" }

// Section writes a text that is not empty below a heading, at most so many characters of it, cut at the end of a line, with the path of the rest.
func (w *Writer) Section(title, text, path string, most int) {
	if text == "" {
		return
	}
	head, foot := Head(title), "\n"
	most = min(most, w.left-len(head)-len(foot)-len(path)-40)
	if most < 80 {
		return
	}
	if utf8.RuneCountInString(text) > most {
		short := string([]rune(text)[:most])
		if i := strings.LastIndexByte(short, '\n'); i > len(short)/2 {
			short = short[:i]
		}
		text = short + "\n… the rest: " + path
	}
	w.Add(head + text + foot)
}
