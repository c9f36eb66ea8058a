package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Decided is a decision that an event of events.jsonl records. It is no record of the journal, and so a pack shows it by itself, at
// every budget: behind the journal until a compaction, then in the block of decisions before the conversation, in front of those that
// are derived. So it is told once, and the prefix does not change between compactions.
type Decided struct {
	Line   int    // of events.jsonl
	After  int    // number of messages that arrived before it
	Text   string // one line
	Source string // the record that the event cites; "" for none
}

// ID is that of its row in decisions.jsonl.
func (d *Decided) ID() string { return fmt.Sprintf("de%d", d.Line) }

// decidedBefore is how many of the decisions had arrived before the record at a place of m.
func (mm *Memo) decidedBefore(m record.Records, at int) int {
	a := record.AddressOf(m, at)
	n := slices.IndexFunc(mm.Decided, func(d Decided) bool {
		if a.Event {
			return d.Line >= a.Line
		}
		return d.After >= a.Line
	})
	if n < 0 {
		return len(mm.Decided)
	}
	return n
}

// earlierDecisions is the line that stands for those that there is no room for.
const earlierDecisions = "- earlier ones: " + ctxabi.DecisionsFile + "\n"

// DecidedText is a list of decisions in at most room tokens, the newest of them where not all fit, and how many tokens it takes; "" where
// none fits. Of those that say the same the last one stands.
func DecidedText(list []Decided, room int, count func(string) int) (text string, tokens int) {
	var lines []string // newest first
	said := map[string]bool{}
	for i, d := range slices.Backward(list) {
		if said[d.Text] {
			continue
		}
		said[d.Text] = true
		short, _ := compress.ClipTokens(d.Text, noteTextShown)
		line, more := fmt.Sprintf("- %s (%s)\n", record.OneLine(short), cmp.Or(d.Source, fmt.Sprintf("events:%d", d.Line))), 0
		if i > 0 {
			more = count(earlierDecisions)
		}
		if n := count(line); tokens+n+more <= room {
			lines, tokens = append(lines, line), tokens+n
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, earlierDecisions)
		}
		break
	}
	slices.Reverse(lines)
	text = strings.Join(lines, "")
	return text, count(text)
}

// Limits of the block of recorded decisions.
const (
	DecisionsCap  = 600 // tokens at a budget of 32,000
	noteTextShown = 60  // tokens of one decision
	decidedPart   = 4   // recorded decisions take a quarter of the room of zones at most
)

// decided returns the block of the decisions that events recorded before the record that brought
// the compaction. It is empty without decisions and without room.
func (b *zoner) decided(room int64) Part {
	n := b.mm.decidedBefore(b.m, b.z.at)
	text, _ := DecidedText(b.mm.Decided[b.z.Decided:n], int(min(DecisionsCap, room/decidedPart)), b.c.CountCached)
	if text == "" {
		return Part{}
	}
	b.z.Decided = n
	span := ctxabi.Span{From: 1, To: b.z.at}
	p := Part{Piece: Piece{Span: span, Kept: true, Zone: InDecided}}
	p.Text = record.BlockHeading + "decisions (" + record.SourcesOf(b.m, span) + ")\n" + text
	p.Tokens = b.c.CountCached(p.Text)
	return p
}

// decidedKey names the decisions that zones of a compaction show.
func (mm *Memo) decidedKey(m record.Records, compacted int) string {
	n := mm.decidedBefore(m, compacted)
	if n == 0 {
		return ""
	}
	h := sha256.New()
	for _, d := range mm.Decided[:n] {
		h.Write(append([]byte(d.Text), 0))
		h.Write(append([]byte(d.Source), 0))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// NoteIDs are the ids of rows.
func NoteIDs(rows []byte) map[string]bool {
	ids := map[string]bool{}
	for line := range bytes.Lines(rows) {
		if id := gjson.GetBytes(line, "id").Str; id != "" {
			ids[id] = true
		}
	}
	return ids
}
