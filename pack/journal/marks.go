package journal

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Kind returns the kind in pack.json of a part of the journal that stands for compacted records; "" for
// a record in full.
func (p *Part) Kind() string {
	switch p.Zone {
	case InSummary:
		return "summary"
	case InSaid:
		return "user_words"
	case InState:
		return "state"
	case InLines:
		return "key_lines"
	case InDecided:
		return "decisions"
	case InFolds:
		return "folded"
	}
	return ""
}

// marker writes the marks of the journal. The first mark of each label has its sentence. Later ones, and
// all of a small journal, have the short form.
type marker struct {
	marks ctxabi.Marks
	c     *tokens.Counter
	begun map[ctxabi.Label]bool
	small bool
}

// smallJournal is below how many tokens of room all marks have the short form.
const smallJournal = 2500

func (mm *Memo) marker(r *Rules, c *tokens.Counter, before Past) *marker {
	m := &marker{mm.Marks, c, map[ctxabi.Label]bool{}, r.room < smallJournal}
	for _, z := range before {
		for i := range z.blocks {
			m.begun[record.LabelOf(z.blocks[i].Kind())] = true
		}
		m.begun[ctxabi.OldRecords] = m.begun[ctxabi.OldRecords] || len(z.folds) > 0
	}
	return m
}

func (m *marker) part(text string) Part {
	return Part{Piece: Piece{Kept: true}, Mark: true, Text: text, Tokens: m.c.CountCached(text)}
}

func (m *marker) begin(l ctxabi.Label) Part {
	text := m.opening(l)
	m.begun[l] = true
	return m.part(text)
}

func (m *marker) opening(l ctxabi.Label) string {
	if m.small || m.begun[l] {
		return m.marks.BeginAgain(l)
	}
	return m.marks.Begin(l)
}

func (m *marker) end() Part { return m.part(m.marks.End()) }

// tokens returns what the marks around blocks of these kinds take.
func (m *marker) tokens(kinds ...string) (n int) {
	last := ctxabi.Unlabeled
	for _, kind := range kinds {
		if l := record.LabelOf(kind); l != last {
			n += m.c.CountCached(m.opening(l)) + m.c.CountCached(m.marks.End())
			last = l
		}
	}
	return n
}

// markTokens returns what the marks around parts take.
func (b *zoner) markTokens(parts ...Part) int {
	var kinds []string
	for i := range parts {
		kinds = append(kinds, parts[i].Kind())
	}
	return b.mm.marker(&b.f.Rules, b.c, b.before).tokens(kinds...)
}

// marksFor returns what the marks take that one more block brings.
func (b *zoner) marksFor(zone Zone) int64 {
	next := Part{Piece: Piece{Zone: zone}}
	return int64(b.markTokens(append(slices.Clip(b.z.blocks), next)...) - b.markTokens(b.z.blocks...))
}

// label escapes the blocks of the zones and puts marks around those of the same label.
func (b *zoner) label() {
	m := b.mm.marker(&b.f.Rules, b.c, b.before)
	var out []Part
	open := ctxabi.Unlabeled
	for _, p := range b.z.blocks {
		heading, body, _ := strings.Cut(p.Text, "\n")
		if escaped := ctxabi.Escape(body); escaped != body {
			p.Text = heading + "\n" + escaped
			p.Tokens = b.c.CountCached(p.Text)
		}
		if l := record.LabelOf(p.Kind()); l != open {
			if open != ctxabi.Unlabeled {
				out = append(out, m.end())
			}
			out, open = append(out, m.begin(l)), l
		}
		out = append(out, p)
	}
	if open != ctxabi.Unlabeled {
		out = append(out, m.end())
	}
	b.z.blocks = out
}

// Notation is the id of the block that explains the notation of compacted records.
const Notation = "notation"

// legend returns the block that explains the notation, for prompts with zones.
func (mm *Memo) legend(c *tokens.Counter) Part {
	text := record.BlockHeading + Notation + "\n" +
		"Marks [ctxfs " + mm.Marks.Tag() + ": …] enclose the user's earlier words, notes, or quoted data. " +
		"[n]: record n, whole in " + ctxabi.LineDir + "/n.txt. (folded): shortened. " +
		"Of equal headings the last is newest.\n"
	return Part{Legend: true, Text: text, Tokens: c.CountCached(text)}
}

// foldMarks puts marks around runs of folded records.
type foldMarks struct {
	mm    *Memo
	rules *Rules
	c     *tokens.Counter
	past  Past
	m     *marker // of the run that is open; nil: none is
	last  int     // the generation of the last run, counted from 1
}

// before returns the mark that closes an open run in front of another piece.
func (f *foldMarks) before(p Piece) []Part {
	if p.Zone == InFolds {
		return nil
	}
	return f.close()
}

// open returns the mark that opens a run in front of a folded record.
func (f *foldMarks) open(p Piece) []Part {
	if f.m != nil {
		return nil
	}
	f.m = f.mm.marker(f.rules, f.c, f.past[:p.Past])
	if f.last == p.Past+1 {
		f.m.begun[ctxabi.OldRecords] = true
	}
	f.last = p.Past + 1
	return f.inPast(f.m.begin(ctxabi.OldRecords))
}

func (f *foldMarks) close() []Part {
	if f.m == nil {
		return nil
	}
	end := f.m.end()
	f.m = nil
	return f.inPast(end)
}

func (f *foldMarks) inPast(p Part) []Part {
	p.Past = f.last - 1
	return []Part{p}
}

// dayLines writes the day above the first record of each day: of the kept records of each generation,
// and of the live records.
type dayLines struct {
	c       *tokens.Counter
	section int // 0: live, else a generation from 1
	day     string
}

// before returns the line above a record of a day.
func (d *dayLines) before(p Piece, day string) []Part {
	section := 0
	if p.Kept {
		section = p.Past + 1
	}
	if section != d.section {
		d.section, d.day = section, ""
	}
	if p.Lead || day == "" || day == d.day {
		return nil
	}
	d.day = day
	text := ctxabi.DayHeading + day + "\n"
	return []Part{{Piece: Piece{Kept: p.Kept, Past: p.Past}, Text: text, Day: day, Tokens: d.c.CountCached(text)}}
}

// dateFolds writes the day above the first folded record of each day.
func (b *zoner) dateFolds() {
	last := ""
	for i := range b.z.folds {
		p := &b.z.folds[i]
		if p.Text == "" {
			continue // it is shown in full
		}
		if day := b.day(p.From); day != "" && day != last {
			last = day
			p.Text = ctxabi.DayHeading + day + "\n" + p.Text
			p.Tokens = b.c.CountCached(p.Text)
		}
	}
}

// day returns the day of the record at a place; "" for a record without a date.
func (b *zoner) day(at int) string {
	day, err := record.DayOf(b.m, at)
	b.unread = b.unread || err != nil
	return day
}
