package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// columns are the figures in the order of the table.
var columns = []struct {
	figure Figure
	title  string
	format string
}{
	{FRC, "FRC", "%.3f"}, {FRCctx, "FRCctx", "%.3f"}, {FarCtx, "FarCtx", "%.3f"}, {FWC, "FWC", "%.3f"}, {F5G, "F5G", "%.3f"},
	{Prefix, "prefix", "%.3f"}, {Cost, "cost", "%.3f"}, {Effective, "tokens/call", "%.0f"}, {Compacting, "compactions/call", "%.3f"}, {Fill, "fill", "%.3f"},
	{EvR, "EvR", "%.3f"}, {AnsIn, "AnsIn", "%.3f"},
}

// ParseFigure returns the figure of a name, in any case of its letters.
// It returns an error, with the names that there are, for any other.
func ParseFigure(name string) (Figure, error) {
	var names []string
	for _, c := range columns {
		if strings.EqualFold(name, string(c.figure)) {
			return c.figure, nil
		}
		names = append(names, string(c.figure))
	}
	if names = append(names, string(ToolOutputs)); strings.EqualFold(name, string(ToolOutputs)) {
		return ToolOutputs, nil
	}
	return "", fmt.Errorf("%q is no figure; the figures are %s", name, strings.Join(names, ", "))
}

// shown are the columns that were asked for and have a value.
func (r *Result) shown(o *Options) (out []int) {
	for i, c := range columns {
		if o.wants(c.figure) && slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Figures[c.figure].N > 0 }) {
			out = append(out, i)
		}
	}
	return out
}

// WriteMarkdown writes the tables. All of it is the same for the same sessions and options, but for the
// times of builds, which stand apart at the end. It returns the error of w.
func (r *Result) WriteMarkdown(w io.Writer, o *Options) error {
	p := &printer{w: w}
	messages, all := 0, 0
	var sets []string
	for _, s := range r.Sessions {
		messages, all = messages+s.Messages, all+s.Tokens
		if !slices.Contains(sets, s.Set) {
			sets = append(sets, s.Set)
		}
	}
	p.f("%s (%s), %d messages, %s tokens of %s.\n", plural(len(r.Sessions), "session"), strings.Join(sets, ", "), messages, grouped(all), r.Encoding)
	if r.Cuts > 0 {
		p.f("Up to %d cuts a session, only where the history exceeds the budget; means over cuts, then over sessions.\n", r.Cuts)
	} else {
		p.f("Cuts wherever the agent speaks next and the history exceeds the budget; means over cuts, then over sessions.\n")
	}
	if r.Stretches != AllStretches {
		p.f("Only the %s stretches, of %d calls of the model each.\n", r.Stretches, stretchCalls)
	}
	if shown := r.shown(o); len(shown) > 0 {
		r.writeFigures(p, shown, sets)
	}
	if o.wants(perCall...) {
		r.writePromises(p)
	}
	if len(r.Outputs) > 0 {
		p.f("\n## Tool outputs above a cap\n\n| method | cap | outputs | needles kept | names of failing tests | their messages |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
		for _, o := range r.Outputs {
			p.f("| %s | %d | %d | %s | %s | %s |\n", o.Method, o.Cap, o.Outputs, o.Needles.text(), o.Names.text(), o.Messages.text())
		}
	}
	if len(r.Builds) > 0 {
		p.f("\n## Time of a build\n\nOn this machine, now; one message more each time.\n\n| budget | builds | p50 | p99 |\n| ---: | ---: | ---: | ---: |\n")
		for _, b := range r.Builds {
			p.f("| %s | %d | %s | %s |\n", grouped(b.Budget), b.Packs, milliseconds(b.P50), milliseconds(b.P99))
		}
	}
	return p.err
}

// writeFigures compares the methods at each budget, and shows ctxfs by set.
func (r *Result) writeFigures(p *printer, shown []int, sets []string) {
	for _, budget := range r.Budgets {
		rows := rowsAt(r.Rows, budget)
		p.f("\n## %s tokens: %s through %s\n\n", grouped(budget), looks(rows[0]), plural(r.exceeding(budget), "session"))
		if rows[0].Packs == 0 {
			p.f("No history exceeds this budget.\n")
			continue
		}
		p.heading("method", shown)
		for _, row := range rows {
			p.row(row.Method, row, shown)
		}
	}
	if len(sets) < 2 {
		return
	}
	p.f("\n## %s, set by set\n\n", Ctxfs)
	p.heading("set, budget, cuts", shown)
	for _, set := range sets {
		of := slices.DeleteFunc(slices.Clone(r.Sessions), func(s SessionResult) bool { return s.Set != set })
		rows, _ := means(of, r.Budgets)
		for _, row := range rows {
			if row.Method == Ctxfs && row.Packs > 0 {
				p.row(fmt.Sprintf("%s, %s, %d", set, grouped(row.Budget), row.Cuts), row, shown)
			}
		}
	}
}

// writePromises shows what was seen of the promises that a pack keeps whatever it holds.
func (r *Result) writePromises(p *printer) {
	p.f("\n## What %s promises\n\n| budget | packs | over budget | with a broken promise | compactions | least gain |\n| ---: | ---: | ---: | ---: | ---: | ---: |\n", Ctxfs)
	for _, row := range r.Rows {
		if row.Method == Ctxfs {
			gain := "–"
			if row.Compactions > 0 {
				gain = fmt.Sprintf("%.3f", row.LeastGain)
			}
			p.f("| %s | %d | %d | %d | %d | %s |\n", grouped(row.Budget), row.Packs, row.Over, row.WrongPacks, row.Compactions, gain)
		}
	}
	for _, row := range r.Rows {
		for _, why := range row.Wrong {
			p.f("\n- at %s: %s\n", grouped(row.Budget), why)
		}
	}
}

func rowsAt(rows []Row, budget int) (out []Row) {
	for _, row := range rows {
		if row.Budget == budget {
			out = append(out, row)
		}
	}
	return out
}

// looks is how often a method was looked at.
func looks(row Row) string {
	if row.Questions == 0 {
		return plural(row.Cuts, "cut")
	}
	return plural(row.Cuts, "cut") + " and " + plural(row.Questions, "question")
}

// exceeding counts the sessions that were looked at at a budget.
func (r *Result) exceeding(budget int) (n int) {
	for _, s := range r.Sessions {
		if row := rowsAt(s.Rows, budget)[0]; row.Cuts+row.Questions > 0 {
			n++
		}
	}
	return n
}

// printer writes until the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) heading(first string, shown []int) {
	p.f("| %s |", first)
	for _, i := range shown {
		p.f(" %s |", columns[i].title)
	}
	p.f("\n| --- |%s\n", strings.Repeat(" ---: |", len(shown)))
}

func (p *printer) row(name string, row Row, shown []int) {
	p.f("| %s |", name)
	for _, i := range shown {
		p.f(" %s |", row.Figures[columns[i].figure].as(columns[i].format))
	}
	p.f("\n")
}

func (m Mean) text() string { return m.as("%.3f") }

func (m Mean) as(format string) string {
	if m.N == 0 {
		return "–"
	}
	return fmt.Sprintf(format, m.Mean)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// grouped is a number with its thousands apart.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// WriteLost writes what was lost to a new file, a JSON object a line. It returns an error if it cannot be written.
func WriteLost[T Lost | DerivedLost](file string, lost []T) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, row := range lost {
		if err := enc.Encode(row); err != nil {
			return err
		}
	}
	return os.WriteFile(file, b.Bytes(), 0o666)
}
