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

// Screen is how a verb may print: as wide, and with what.
type Screen struct {
	Terminal bool
	Bold     bool
	Width    int // columns; of what is no terminal: 0
}

// ScreenOf looks at where output goes. NO_COLOR, when it says anything, and TERM=dumb leave colours and bold type out; COLUMNS,
// when it is a number, is the width of a terminal.
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

// Title is a heading.
func (s Screen) Title(text string) string {
	if s.Bold {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// PrintJSON prints v indented, for people and for jq alike.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Thousands writes a number with commas.
func Thousands(n int) string {
	if n < 0 {
		return "-" + figures.Thousands(-n)
	}
	return figures.Thousands(n)
}

func Share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

func Plural(n int, what string) string { return figures.Count(n, what) }
