package pack

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
)

// printer writes one line of a report.
type printer func(format string, args ...any)

// renderReport writes pack.report.md. Like the pack it is a function of the
// inputs alone: "before" means the same files with one record fewer.
func (d *draft) renderReport(b *Build) []byte {
	var w strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	d.reportHead(b, line)
	d.in.Redaction.report(line)
	d.reportTokens(b, line)
	d.reportSources(line)
	d.reportGenerators(line)
	d.reportLeftOut(line)
	d.reportRepairs(line)
	d.reportSince(b, line)
	return []byte(w.String())
}

// reportHead writes what the pack is, and what is to be known of it first.
func (d *draft) reportHead(b *Build, line printer) {
	l := d.limits
	line("# Pack of %s (agent %s)\n", d.in.Session, d.in.Agent)
	for _, note := range d.in.Notes {
		line("%s", note)
	}
	unread := record.UnreadNote(d.in.Messages)
	if unread != "" {
		line("%s", unread)
	}
	if d.in.NoEvents {
		line("%s cannot be opened, and nothing of it is in this pack; the reason is in %s", ctxabi.EventsFile, ctxabi.ErrorsFile)
	}
	if len(d.in.Notes) > 0 || unread != "" || d.in.NoEvents {
		line("")
	}
	line("- pack: %s", b.ID)
	if l.limit == 0 {
		line("- tokens: %d exact (%s), no limit", b.Tokens, d.counter.Encoding())
	} else {
		line("- tokens: %d exact (%s) of %d, %s", b.Tokens, d.counter.Encoding(), l.limit, percent(b.Tokens, l.limit))
	}
	line("- records: %d, live from %s on", d.fold.N, d.name(d.fold.Boundary()))
	line("- epoch: %s, %d compactions; %s", b.Epoch, d.fold.Compactions, d.epochReason())
	line("- recipe: %s; strategy: %s", cell(d.recipe.Name), cell(d.strategy.Name))
	if d.settled > 0 {
		line("- settled: the blocks before the journal are chosen by the records up to %s", d.name(d.settled))
	}
	if note := d.summaryNote(); note != "" {
		line("- summary: %s", record.OneLine(note))
	}
	line("- summary request: %s", d.askNote())
	if d.wrong != "" {
		line("- error: %s", record.OneLine(d.wrong))
	}
	for _, note := range d.notes {
		line("- note: %s", record.OneLine(note))
	}
	if note := d.imageNote(); note != "" {
		line("- image: %s", note)
	}
	rules := 0
	for _, p := range d.parts {
		rules += p.MissingRules
	}
	if rules > 0 {
		line("- note: messages of the user with standing rules do not fit: %d; pin the rules as a file in %s/, or raise the budget", rules, ctxabi.PinnedDir)
	}
	for _, f := range d.in.Files {
		switch {
		case f.Pending:
			line("- stale: %s has no content yet; it is left out", cell(cmp.Or(f.Path, f.ID)))
		case f.Stale:
			line("- stale: %s was not ready in time; its last known content is used", cell(cmp.Or(f.Path, f.ID)))
		}
	}
}

// reportTokens writes how many tokens each section takes.
func (d *draft) reportTokens(b *Build, line printer) {
	line("\n## Tokens by section\n\n| section | tokens | share |\n| --- | ---: | ---: |")
	stable := 0
	for _, x := range d.head {
		if x.phase == phaseStable {
			stable += x.tokens
		}
	}
	session, lead := d.tokens.head-stable, 0
	for _, p := range d.inHead() {
		lead += p.Tokens
	}
	for _, row := range []struct {
		name   string
		tokens int
	}{{"stable", stable + lead}, {"session", session}, {"journal", d.tokens.journal - lead}, {"dynamic", d.tokens.footer}} {
		line("| %s | %d | %s |", row.name, row.tokens, percent(row.tokens, b.Tokens))
	}
}

// reportSources writes a row for each source: what it asked for, what it got, and why.
func (d *draft) reportSources(line printer) {
	line("\n## Sources\n\n| source | asked | given | bytes left out | why |\n| --- | ---: | ---: | ---: | --- |")
	for _, x := range d.head {
		d.reportSource(x, line)
	}
	left, _ := d.leftOut()
	why := ""
	if left > 0 {
		why = d.whyLeftOut()
	}
	if d.fold.N > 0 {
		logs := ctxabi.MessagesFile
		if len(d.in.Tools) > 0 {
			logs += ", " + ctxabi.EventsFile
		}
		line("| %s | about %d | %d | %d | %s |", logs, d.fold.Total.Weight, d.tokens.journal, left, why)
	}
	for _, x := range d.footer {
		d.reportSource(x, line)
	}
}

// reportSource writes the row of one source; one without a text and a reason has none.
func (d *draft) reportSource(x block, line printer) {
	if x.kind == markKind || x.text == "" && x.reason == "" {
		return
	}
	why := append([]string{}, x.notes...)
	if x.reason != "" && !(x.text == "" && len(why) > 0) {
		why = append([]string{x.reason}, why...)
	}
	if x.stale {
		why = append(why, "stale")
	}
	name := x.path
	switch {
	case x.path == "": // what a command printed
		name = x.id
	case x.id != x.path && x.source != nil && (x.source.Origin.File != "" || x.kind == "section"):
		name = x.id + ": " + x.path
	}
	line("| %s | %d | %d | %d | %s |", cell(name), x.asked, x.tokens, x.left, cell(strings.Join(why, "; ")))
}

// leftOut returns how many bytes of records are left out, and how many records are shortened.
func (d *draft) leftOut() (left int64, cuts int) {
	for _, p := range d.parts {
		if p.Omitted {
			left += p.Bytes
		}
		if p.How != "" {
			cuts++
		}
	}
	return left, cuts
}

// reportGenerators writes what commands noted.
func (d *draft) reportGenerators(line printer) {
	generated := false
	for _, f := range d.in.Files {
		if f.Note == "" {
			continue
		}
		if !generated {
			line("\n## Generators\n")
			generated = true
		}
		line("- %s: %s", cell(f.ID), strings.ReplaceAll(strings.TrimRight(f.Note, "\n"), "\n", "\n  "))
	}
}

// reportLeftOut writes a row for each record that is left out or shortened.
func (d *draft) reportLeftOut(line printer) {
	if left, cuts := d.leftOut(); left > 0 || cuts > 0 {
		line("\n## Records left out or shortened\n\n| records | what | bytes in the log | about tokens | where |\n| --- | --- | ---: | ---: | --- |")
		for _, p := range d.parts {
			switch {
			case p.Omitted:
				line("| %s | left out | %d | %d | %s |", record.StretchOf(d.history, p.Span), p.Bytes, p.Weight, ctxabi.LineDir)
			case p.How != "":
				e, at := d.history.At(p.From), record.AddressOf(d.history, p.From)
				line("| %s | %s | %d | %d | %s |", at, howShortened(p.How), e.Len+1, e.Weight, at.Path())
			}
		}
	}
}

// reportRepairs writes what native renderings change so that a provider takes them.
func (d *draft) reportRepairs(line printer) {
	l := d.limits
	if repairs := native.Summary(d.repairs()); len(repairs) > 0 || d.native.Bound > l.limit && l.limit > 0 {
		line("\n## Repairs in native renderings\n")
		for _, row := range repairs {
			line("- %s", record.OneLine(row))
		}
		if d.native.Bound > l.limit && l.limit > 0 {
			line("- there is so little room that they may not fit; then the rendering fails")
		}
	}
}

// reportSince writes what the newest record changed.
func (d *draft) reportSince(b *Build, line printer) {
	line("\n## Since the pack of one record fewer\n")
	switch n := d.fold.N; {
	case n == 0:
		line("There is no record yet.")
	case !d.journal.Present:
		line("The recipe has no journal: its packs have no records.")
	case d.step > 0:
		line("The estimate of what records take was too low or one group of calls does not fit: the journal was folded tighter, step %d of %d.", d.step, journal.MaxStep)
	case d.fold.Compacted == n && d.fold.Previous == d.fold.Boundary():
		line("Record %s brought a compaction (%s): large results take less, the boundary stays.", d.name(n), d.fold.Reason())
	case d.fold.Compacted == n:
		line("Record %s brought a %s: the boundary moved from %s to %s.", d.name(n), d.fold.Reason(), d.name(d.fold.Previous), d.name(d.fold.Boundary()))
	default:
		line("Record %s was added.", d.name(n))
	}
	line("The first %d bytes (%s of this pack) are those of the pack before.", d.shared.bytes, percent(d.shared.bytes, len(b.Markdown)))
	line("As a provider with prefix caching would count: %d tokens cached, %d written, %d fresh.", d.shared.tokens, d.written(), d.tokens.footer)
}

// howShortened returns it for a reader.
func howShortened(how string) string {
	if how == record.HeadAndTail {
		return "head and tail"
	}
	if how == journal.ByFold {
		return how
	}
	if how == journal.ByRepeat {
		return "a reference to what it repeats"
	}
	return "shortened as " + how
}

func percent(part, whole int) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
