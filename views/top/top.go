package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/ctxfs/ctxfs/internal/figures"
	"github.com/ctxfs/ctxfs/views/overview"
)

const (
	framesPerSecond = 20              // at most, while something changes
	lastWords       = 5 * time.Second // at the end, for what goes on
)

// Run shows the sessions on a terminal until its user quits or ctx ends. It returns the error of the terminal.
func Run(ctx context.Context, c *Config, in, out *os.File) error {
	profile := colorprofile.ASCII
	if c.Color {
		profile = colorprofile.ANSI
	}
	var f *feed
	m := newModel(c, func(w wish) { f.want(w) })
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithColorProfile(profile), tea.WithFPS(framesPerSecond))
	f = newFeed(c, p.Send)
	reading, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.run(reading)
	}()
	_, err := p.Run()
	stop()
	select {
	case <-done:
	case <-time.After(lastWords): // a mount that does not answer holds up nobody who wants to end
	}
	if ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// Once writes the list as a table of plain text, n rows of it at most or all where n is 0, in so many cells. It returns the error of
// writing.
func Once(w io.Writer, c *Config, n, cells int) error {
	all := c.Source.List(nil)
	entries := c.matching(all)
	rows := map[string]*overview.Row{}
	var items []*item
	for _, e := range entries {
		items = append(items, newItem(e))
	}
	l := &lister{now: time.Now(), usual: c.Budget, widest: widest(items)}
	l.layOut(cells)
	read := func(x *item) *overview.Row {
		if rows[x.Ref] == nil {
			r := c.Source.Row(x.Entry)
			rows[x.Ref] = &r
		}
		return rows[x.Ref]
	}
	if c.Order.needsRows() {
		for _, x := range items {
			read(x)
		}
	}
	c.Order.sorted(items, rows)
	lines := []string{l.heading()}
	shown := items
	if n > 0 {
		shown = items[:min(n, len(items))]
	}
	for _, x := range shown {
		lines = append(lines, "  "+l.row(x, read(x)))
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line[markWidth:], " ")
	}
	if more := len(items) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", figures.Count(more, "session")))
	}
	switch {
	case len(items) == 0 && len(all) > 0:
		lines = []string{fmt.Sprintf("no such session: %s (%s in all)", overview.Visible(c.Wanted), figures.Count(len(all), "session"))}
	case len(items) == 0:
		lines = []string{"no session yet; ctxfs install connects your agent programs"}
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}
