package top

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/figures"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

const (
	lastRecords  = 50 // of a session, on its screen
	lastRefusals = 5
)

// detail is what the screen of a session shows.
type detail struct {
	ref      string
	dir      string
	row      overview.Row
	events   int
	records  []overview.Glimpse // of messages, the last one first
	notes    []overview.NoteFile
	refusals []overview.Refusal
	unread   error   // why the refusals are not known
	prompt   *prompt // nil: it is not there yet, or failed says why not
	failed   error
}

// prompt is what a pack is made of.
type prompt struct {
	tokens, budget, compactions int
	parts                       []part
}

// part is a section of a pack.
type part struct {
	name   string
	tokens int
}

// detailOf reads what the screen of a session shows but for its prompt. What cannot be read is left out.
func (c *Config) detailOf(ref string) *detail {
	d := &detail{ref: ref, dir: filepath.Join(c.Source.Root, ref)}
	e, ok := c.Source.Entry(ref)
	if !ok {
		d.failed = errRemoved
		return d
	}
	d.row = c.Source.Row(e)
	d.events = overview.RecordsOf(d.dir, ctxabi.EventsFile)
	for n := d.row.Messages; n > max(0, d.row.Messages-lastRecords); n-- {
		d.records = append(d.records, overview.GlimpseOf(d.dir, inspect.Address{N: n}))
	}
	d.notes = overview.Notes(d.dir)
	d.refusals, d.unread = overview.Refusals(d.dir)
	return d
}

var errRemoved = errors.New("the session was removed")

// promptOf takes the present pack of a session apart, as [Config.Look] has it. It returns the error of that.
func (c *Config) promptOf(ctx context.Context, ref string) (_ *prompt, err error) {
	h, end, err := c.Look(ctx, filepath.Join(c.Source.Root, ref))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	p, err := h.At(ctx, h.Len())
	if err != nil {
		return nil, err
	}
	s, _ := p.Sections()
	return &prompt{p.Tokens, p.BudgetTokens, p.Compactions, []part{
		{"Instructions", s.Stable}, {"Session", s.Session}, {"Conversation", s.Journal}, {"Footer", s.Footer},
	}}, nil
}

// lines are the screen of a session, each of as many cells at most as l is laid out for. Those of a heading are alone.
func (d *detail) lines(l *lister, cells int) (lines []string) {
	add := func(s style, format string, args ...any) {
		lines = append(lines, l.paint(s, crop(fmt.Sprintf(format, args...), cells)))
	}
	section := func(title string) {
		lines = append(lines, "")
		add(strong, "%s", title)
	}
	r := &d.row
	if r.Ref != "" {
		add(plain, "%s, %s, changed %s", figures.Count(r.Messages, "message"), figures.Count(d.events, "event"), overview.Ago(l.now, r.Updated))
	}
	add(faint, "%s", harmless(d.dir))
	d.promptLines(l, cells, section, add)
	section("Notes")
	add(plain, "  %s", d.counts())
	section("Refused")
	switch {
	case d.unread != nil:
		add(alarm, "  %s", harmless(overview.Reason(d.unread)))
	case len(d.refusals) == 0:
		add(faint, "  nothing was refused")
	}
	for _, x := range d.refusals[:min(len(d.refusals), lastRefusals)] {
		times := ""
		if x.Count > 1 {
			times = fmt.Sprintf(" (%s times)", figures.Thousands(x.Count))
		}
		add(plain, "  %s: %s %s%s: %s", overview.Ago(l.now, x.When), harmless(x.What), harmless(x.Path), times, harmless(x.Reason))
	}
	if n := len(d.refusals) - lastRefusals; n > 0 {
		add(faint, "  and %s more in context/errors.jsonl", figures.Thousands(n))
	}
	section("Last messages")
	if len(d.records) == 0 {
		add(faint, "  there is no message yet")
	}
	digits := len(figures.Thousands(r.Messages))
	for _, g := range d.records {
		head := fmt.Sprintf("  %*s %-9s %6s  ", digits, figures.Thousands(g.N), crop(harmless(g.Role), 9), overview.Short(g.Tokens))
		lines = append(lines, l.paint(faint, crop(head, cells))+crop(harmless(g.First), cells-width(head)))
	}
	if n := r.Messages - len(d.records); n > 0 && len(d.records) > 0 {
		add(faint, "  and %s before them", figures.Count(n, "message"))
	}
	return lines
}

// promptLines are where the tokens of the present pack go, and what the last ones were.
func (d *detail) promptLines(l *lister, cells int, section func(string), add func(style, string, ...any)) {
	const names, numbers = 14, 9
	switch {
	case d.failed != nil:
		section("Prompt")
		add(alarm, "  %s", harmless(overview.Reason(d.failed)))
	case d.prompt == nil:
		section("Prompt")
		add(faint, "  it is being looked at")
	default:
		p := d.prompt
		title := "Prompt: " + figures.Count(p.tokens, "token")
		if p.budget > 0 {
			title += " of " + figures.Thousands(p.budget)
		}
		if p.compactions > 0 {
			title += ", " + figures.Count(p.compactions, "compaction")
		}
		section(title)
		room := cells - 2 - names - numbers - 2
		for _, x := range p.parts {
			bar := ""
			if room > 0 && p.tokens > 0 {
				bar = strings.Repeat("█", (x.tokens*room+p.tokens-1)/p.tokens)
			}
			add(plain, "  %s%s  %s", fit(x.name, names), fitRight(figures.Thousands(x.tokens), numbers), bar)
		}
	}
	if p := d.row.Packs; p.Any {
		section(fmt.Sprintf("Last %s that programs read", figures.Count(p.Count, "prompt")))
		add(plain, "  %s", spark(p, min(50, cells-2)))
		if p.Cached {
			add(plain, "  %s of their tokens stood in the prompt before", overview.Percent(p.Share))
		}
	}
}

// counts are how many notes there are of each kind.
func (d *detail) counts() string {
	var list []string
	for _, f := range d.notes {
		open, done := 0, 0
		for _, t := range f.Tasks {
			if t.Done {
				done++
			} else {
				open++
			}
		}
		n := len(f.Notes) + f.More
		switch f.Title {
		case "To do":
			list = append(list, fmt.Sprintf("%s to do, %s done", figures.Thousands(open), figures.Thousands(done)))
		case "Decisions":
			list = append(list, figures.Count(n, "decision"))
		case "Facts":
			list = append(list, figures.Count(n, "fact"))
		default:
			list = append(list, figures.Count(n, "file"))
		}
	}
	return strings.Join(list, ", ")
}
