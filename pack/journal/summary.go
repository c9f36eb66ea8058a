package journal

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// Summary is a delivered version of the session's summary, or the retraction of all versions before
// it. A list of them is in the order of delivery.
type Summary struct {
	N      int    // number of the version; 0: a retraction, which has no text
	To     int    // the text covers the records up to this place of the history
	After  int    // number of records at the delivery; only later records can bring it in
	Text   string // ends in a newline
	Writer string // one of ctxabi.SummaryWriters

	Tokens int                // of Text, filled in by [Memo.Deliver]
	Sum    *[sha256.Size]byte // result of ID; nil: not computed yet
}

// ID returns a hash of all fields that a prompt shows. It is zero for nil.
func (s *Summary) ID() [sha256.Size]byte {
	switch {
	case s == nil:
		return [sha256.Size]byte{}
	case s.Sum != nil:
		return *s.Sum
	}
	return sha256.Sum256(fmt.Appendf(nil, "%d %d %s\n%s", s.N, s.To, s.Writer, s.Text))
}

// The limit of a summary in tokens: a share of the journal, in thousandths, and its bounds.
const (
	summaryShare    = 300
	minSummaryLimit = 300
	maxSummaryLimit = 4000

	summaryFrame = 110 // tokens of its heading, the line that names the version, and the checks
	summaryMost  = 700 // largest share of the tokens that kept records leave, in thousandths
	minReplaces  = 100 // a summary with fewer tokens replaces no derived sentence
	countedBytes = 256 << 10
)

// SummaryLimit returns the largest number of tokens at which a delivered summary is shown in
// full. It returns 0 if the journal has no token limit and is never compacted.
func (r *Rules) SummaryLimit() int {
	switch {
	case r.room == 0:
		return 0
	case r.summary > 0:
		return r.summary
	}
	return int(min(max(r.room*summaryShare/1000, minSummaryLimit), maxSummaryLimit))
}

// Deliver sets the versions for the next build.
func (mm *Memo) Deliver(list []Summary, c *tokens.Counter) {
	mm.Summaries = make([]Summary, len(list))
	for i, s := range list {
		if len(s.Text) > countedBytes {
			s.Tokens = ctxabi.Weight(s.Text) // it is beyond any limit
		} else if s.Text != "" {
			s.Tokens = c.CountCached(s.Text)
		}
		mm.Summaries[i] = s
	}
}

// SummaryInUse returns the index in list of the version in use at a compaction that record n
// starts, or -1. Among the versions delivered before record n it has the highest To; of two with
// the same To, the later delivery wins. A retraction leaves no version in use.
func SummaryInUse(list []Summary, n int) int {
	use := -1
	for i := range list {
		switch s := &list[i]; {
		case s.After >= n:
		case s.N == 0:
			use = -1
		case use < 0 || s.To >= list[use].To:
			use = i
		}
	}
	return use
}

// SummaryFor returns the version that entered at the last major compaction of f, or nil.
func (mm *Memo) SummaryFor(f *Fold) *Summary {
	if len(f.past) == 0 {
		return nil
	}
	return mm.SummaryAfter(f.past[0].Compacted - 1)
}

// SummaryAfter returns the version in use after record n, or nil.
func (mm *Memo) SummaryAfter(n int) *Summary {
	if use := SummaryInUse(mm.Summaries, n+1); use >= 0 {
		return &mm.Summaries[use]
	}
	return nil
}

// delivered identifies a version for a fold: its position in the list from 1, its range, and its
// tokens. The zero value means that no version is in use.
type delivered struct{ number, to, tokens int }

func (mm *Memo) deliveredAt(n int) (d delivered) {
	if use := SummaryInUse(mm.Summaries, n); use >= 0 {
		d = delivered{use + 1, mm.Summaries[use].To, mm.Summaries[use].Tokens}
	}
	return d
}

// inUse returns the version in use at a compaction that the last record starts, and whether the
// compacted records already show it.
func (f *Fold) inUse() (d delivered, shown bool) {
	if f.summary == nil {
		return d, true
	}
	d = f.summary(f.N)
	if len(f.past) == 0 {
		return d, d.number == 0
	}
	return d, d.number == f.summary(f.past[0].Compacted).number
}

// ownTokens returns the share of a delivered summary in room tokens, its heading and checks
// included. tokens is the size of its text.
func (r *Rules) ownTokens(room int64, tokens int) int64 {
	if tokens == 0 {
		return 0
	}
	return max(0, min(r.scaled(min(tokens, r.SummaryLimit())+summaryFrame), room*summaryMost/1000))
}

// zonesWith returns the zones of a compaction at which a delivered summary enters; tokens is the
// size of its text. Without one it equals zonesIn. Up to half of the conclusions and a quarter of
// the key lines, folded records, and files and runs give their tokens to the summary.
func (r *Rules) zonesWith(room int64, tokens int) zoneRules {
	z := r.zonesIn(room)
	if r.zones.all() == 0 {
		return z
	}
	z.own = r.ownTokens(room, tokens)
	left := z.own
	give := func(p *int64, most int64) {
		n := min(left, most)
		*p, left = *p-n, left-n
	}
	give(&z.summary, z.summary/2)
	give(&z.lines, z.lines/4)
	give(&z.folds, z.folds/4)
	give(&z.state, z.state/4)
	return z
}

// pressedShare is a share of the tokens for live records, in thousandths. Beyond it a request for a
// summary opens, and a new version starts a compaction.
const pressedShare = 800

// isPressed reports whether the live records exceed pressedShare of the tokens that the compacted
// records leave to them.
func (f *Fold) isPressed() bool {
	live := f.shown - f.starts[0].shown
	if f.Boundary() == 1 {
		live -= f.Lead.shown + f.surplus
	}
	return live*1000 > (f.Rules.room-f.weight()+live)*pressedShare
}

// coversMore reports whether the version in use covers compacted records of at least the limit of a
// summary that the shown version does not cover.
func (f *Fold) coversMore() bool {
	if len(f.past) == 0 {
		return false
	}
	return min(f.asked.weighs, f.starts[0].before.Weight)-f.past[0].asked.weighs >= int64(f.Rules.SummaryLimit())
}

// enter starts a major compaction if a version was delivered since the last one, and the live
// records are pressed or the version covers compacted records that the shown version does not. The boundary is directly after the version's range, or at the first later
// start from which the records fit. A record with calls starts none. It reports whether it moved
// the boundary.
func (f *Fold) enter(e ctxabi.Entry) bool {
	if f.summary == nil || e.Flags&ctxabi.HasCalls != 0 || f.Rules.zones.all() == 0 {
		return false
	}
	d, shown := f.inUse()
	if shown || d.tokens < minReplaces || d.to < 1 || !f.isPressed() && !f.coversMore() {
		return false
	}

	before, why := f.weight(), bySummary
	if !f.isPressed() {
		why = byLateSummary
	}
	undo := f.age(f.Rules.tool, f.turn())
	for i := f.startAfter(d.to); i > 0 && i < len(f.starts); i++ {
		s := f.starts[i]
		kept := f.keptRecords(1, s)
		most := min(f.low(kept), before-f.leastGain(s))
		if why == byLateSummary {
			most = max(f.low(kept), before)
		}
		if kept+f.shown-s.shown+f.Rules.zonesWith(f.Rules.room-kept, d.tokens).least() <= most {
			if f.major(i, before, why) {
				return true
			}
			break
		}
	}
	undo()
	return false
}

// startAfter returns the first start after a place; 0: there is none.
func (f *Fold) startAfter(line int) int {
	for i := 1; i < len(f.starts); i++ {
		if f.starts[i].line > line {
			return i
		}
	}
	return 0
}

// SummaryWriter names the writer of a version in a prompt.
func SummaryWriter(writer string) string {
	switch writer {
	case ctxabi.WriterSummarizer:
		return "the recipe's summarizer"
	case ctxabi.WriterImport:
		return "an imported transcript"
	}
	return "the agent"
}

// cutOrder lists the sections of a summary that lose lines first, in this order.
var cutOrder = []string{"tried", "facts", "state"}

// sectionOf returns the name of the section that a line begins, in lower case: "# Tried",
// "**Tried**" and "Tried:" do. ok is false for other lines.
func sectionOf(line string) (name string, ok bool) {
	line = strings.TrimSpace(line)
	bare := strings.TrimSpace(strings.TrimLeft(line, "#"))
	isHeading := len(bare) < len(line)
	for _, mark := range []string{"**", "__"} {
		if rest, found := strings.CutPrefix(bare, mark); found {
			if at := strings.Index(rest, mark); at >= 0 && strings.Trim(rest[at+len(mark):], ": ") == "" {
				bare, isHeading = rest[:at], true
			}
		}
	}
	name, colon := strings.CutSuffix(strings.TrimSpace(bare), ":")
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "goal", "rules", "decisions", "state", "facts", "tried", "open", "next":
		return name, isHeading || colon
	}
	return "", isHeading && strings.HasPrefix(line, "#")
}

// cutSummary shortens text to limit tokens, with a last line that names the file of the whole
// text. It removes up to half of the lines of Tried, then of Facts, then of State, then more of
// them in this order, then lines of any section, each time from the end. cut is false if the text fits. where is the path of that file.
func cutSummary(text, where string, limit int, count func(string) int) (shown string, cut bool) {
	if len(text) <= countedBytes && count(text) <= limit {
		return text, false
	}
	note := "(cut; whole: " + where + ")\n"
	limit -= count(note)

	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	sections, sizes, total := make([]string, len(lines)), make([]int, len(lines)), 0
	section := ""
	for i, line := range lines {
		if name, ok := sectionOf(line); ok {
			section = name
		}
		sections[i], sizes[i] = section, count(line)
		total += sizes[i]
	}
	kept := make([]bool, len(lines))
	for i := range kept {
		kept[i] = true
	}
	drop := func(of string, most int) {
		for i := len(lines) - 1; i >= 0 && total > limit && most > 0; i-- {
			if kept[i] && (of == "" || sections[i] == of) {
				kept[i], total = false, total-sizes[i]
				most--
			}
		}
	}
	for _, of := range cutOrder {
		n := 0
		for _, section := range sections {
			if section == of {
				n++
			}
		}
		drop(of, n/2)
	}
	for _, of := range append(cutOrder, "") {
		drop(of, len(lines))
	}

	var b strings.Builder
	for i, line := range lines {
		if kept[i] {
			b.WriteString(line)
		}
	}
	shown = strings.TrimSuffix(b.String(), "\n")
	if shown == "" && limit > 0 { // one long line
		shown, _ = compress.ClipTokens(lines[0][:min(len(lines[0]), 16*limit)], limit)
		shown = strings.ToValidUTF8(strings.TrimSuffix(shown, "\n"), "")
	}
	if shown != "" {
		shown += "\n"
	}
	return shown + note, true
}
