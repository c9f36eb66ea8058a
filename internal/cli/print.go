package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/figures"
)

// Screen describes where the output of a verb goes.
type Screen struct {
	Terminal bool
	Bold     bool
	Width    int // columns; 0 without a terminal
}

// ScreenOf describes w. A non-empty NO_COLOR and TERM=dumb turn bold type off. A positive number in
// COLUMNS replaces the width of the terminal.
func ScreenOf(w io.Writer) Screen {
	f, ok := w.(*os.File)
	if !ok {
		return Screen{}
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return Screen{}
	}
	s := Screen{Terminal: true, Width: int(size.Col), Bold: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	}
	if s.Width == 0 {
		s.Width = 80
	}
	return s
}

// Title returns text as a heading.
func (s Screen) Title(text string) string {
	if s.Bold {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// PrintJSON writes v to w as indented JSON. It does not escape HTML.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Thousands formats n with commas and an ASCII minus sign.
func Thousands(n int) string {
	if n < 0 {
		return "-" + figures.Thousands(-n)
	}
	return figures.Thousands(n)
}

// Share formats n as a percentage of a total, "-" if the total is 0.
func Share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// Plural returns "1 message", "3,000 messages".
func Plural(n int, what string) string { return figures.Count(n, what) }
