package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/figures"
)

// screen is how a verb may print: as wide, and with what.
type screen struct {
	terminal bool
	bold     bool
	width    int // columns; of what is no terminal: 0
}

// screenOf looks at where output goes. NO_COLOR, when it says anything, and TERM=dumb leave colours and bold type out; COLUMNS,
// when it is a number, is the width of a terminal.
func screenOf(w io.Writer) screen {
	f, ok := w.(*os.File)
	if !ok {
		return screen{}
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return screen{}
	}
	s := screen{terminal: true, width: int(size.Col), bold: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.width = n
	}
	if s.width == 0 {
		s.width = 80
	}
	return s
}

// title is a heading.
func (s screen) title(text string) string {
	if s.bold {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// printJSON prints v indented, for people and for jq alike.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 0 {
		return "-" + figures.Thousands(-n)
	}
	return figures.Thousands(n)
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

func plural(n int, what string) string { return figures.Count(n, what) }
