package web

import (
	"errors"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/figures"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

// breakable returns a path that a narrow window breaks after its slashes.
func breakable(path string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(overview.Visible(path)), "/", "/<wbr>"))
}

// grouped returns a line as [figures.Thousands] writes it where it is a number, else as it is.
func grouped(line string) string {
	if n, err := strconv.Atoi(line); err == nil {
		return figures.Thousands(n)
	}
	return line
}

// signed writes a difference.
func signed(n int) string {
	if n > 0 {
		return "+" + figures.Thousands(n)
	}
	return figures.Thousands(n)
}

// size writes bytes with a unit.
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if i == 0 || f >= 10 {
		return fmt.Sprintf("%.0f %s", f, units[i])
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

// zoneWords are the zones of a conversation in words.
var zoneWords = map[inspect.Zone]string{
	inspect.Full: "in full", inspect.Shortened: "shortened", inspect.Kept: "kept", inspect.Folded: "folded", inspect.LeftOut: "left out", inspect.Absent: "not in it",
}

// placeWords returns where a record stands, in words.
func placeWords(p inspect.Place) string {
	switch {
	case p.Zone == inspect.LeftOut && p.How == "compacted":
		return "left out: a compaction took it out"
	case p.Zone == inspect.LeftOut && p.How == "left out":
		return "left out"
	}
	return p.String()
}

// reason returns an error in words.
func reason(err error) string {
	own, isOwn := err.(*ctxabi.Error)
	switch {
	case errors.Is(err, errSuperseded):
		return "Another preview began, and only one is made at a time."
	case isOwn && own.Why != "" && own.Err == nil:
		return sentence(own.Why)
	}
	return overview.Reason(err)
}

// sentence returns a text that begins with a capital and ends with a full stop.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[n:], ".") + "."
}

// failed is an error as a page shows it.
type failed struct {
	Title, Reason, Do string
}

// Unrun is why a command of a recipe has no output when somebody looks; [Config.Look] says so.
const Unrun = "a look runs no commands"

// shownError returns what a page says of an error, and what to do.
func shownError(err error) failed {
	f := failed{Title: "This cannot be shown", Reason: reason(err)}
	switch {
	case errors.Is(err, errSuperseded):
		f.Title = "Stopped"
	case errors.Is(err, ctxabi.ErrOverBudget):
		f.Title, f.Do = "There is no prompt at this budget", "What the recipe requires and what is pinned does not fit. Raise the budget, or take a pin away."
	case errors.Is(err, ctxabi.ErrNoData) && strings.Contains(err.Error(), Unrun):
		f.Title, f.Do = "This prompt is not made by looking", "A command of the recipe would have to run first. Whoever reads context/pack.md runs it; then it is shown here."
	case errors.Is(err, ctxabi.ErrNoData):
		f.Title, f.Do = "There is no prompt", "A source that the recipe requires is missing. context/pack.report.md names it."
	case errors.Is(err, errGone):
		f.Title, f.Reason, f.Do = "The mount is gone", sentence(f.Reason), "Mount it again with ctxfs mount; then the pages go on."
	case errors.Is(err, ctxabi.ErrNotFound):
		f.Title = "Not found"
	}
	return f
}

// functions are what templates call.
var functions = template.FuncMap{
	"visible": overview.Visible, "path": breakable, "thousands": figures.Thousands, "count": figures.Count, "short": overview.Short, "signed": signed, "size": size,
	"percent": overview.Percent, "spark": spark, "link": linkTo,
	"ago":   func(t time.Time) string { return overview.Ago(time.Now(), t) },
	"stamp": func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") },
	"zone":  func(z inspect.Zone) string { return zoneWords[z] },
	"place": placeWords, "writer": writerWords,
	"minus": func(a, b int) int { return a - b },
}

// writerWords describes how a version of the summary was delivered.
func writerWords(writer string) string {
	switch writer {
	case ctxabi.WriterFile:
		return "written to summary.md"
	case ctxabi.WriterEvent:
		return "delivered by an event"
	case ctxabi.WriterMCP:
		return "delivered by save_summary"
	case ctxabi.WriterSummarizer:
		return "by the recipe's summarizer"
	case ctxabi.WriterImport:
		return "imported from a transcript"
	}
	return "writer unknown"
}
