package pack

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
)

// Decided is a decision that an event of events.jsonl records. It is no record of the journal, and so a pack shows it by itself, at
// every budget: behind the journal until a compaction, then in the block of decisions before the conversation, in front of those that
// are derived. So it is told once, and the prefix does not change between compactions.
type Decided struct {
	Line  int    // of events.jsonl
	After int    // messages that had arrived before it
	Text  string // one line
}

// Numbers of recorded decisions.
const (
	maxDecided  = 4096 // the newest of a history
	decidedPart = 4    // of the room of zones they take a quarter at most
)

// decided reads the decisions of a log as it grows.
type decided struct {
	seen int // events looked at
	list []Decided
}

// upTo returns the newest decisions of a log as it stands, oldest first; none where the recipe shows none. before says how many
// messages had arrived before an event.
func (d *decided) upTo(r *recipe.Recipe, log Records, before func(line int) int) ([]Decided, error) {
	if !slices.ContainsFunc(r.Sources, func(s recipe.Source) bool { return s.Type == recipe.TypeDecisions }) {
		return nil, nil
	}
	if d.seen > log.Len() {
		*d = decided{}
	}
	for d.seen < log.Len() {
		line := d.seen + 1
		raw, err := log.Record(line)
		if err != nil && !session.IsDamage(err) {
			return nil, unreadable(address{line, true}, err)
		}
		if text := decisionOf(raw); err == nil && text != "" {
			if d.list = append(d.list, Decided{Line: line, Text: text}); len(d.list) > maxDecided {
				d.list = slices.Delete(d.list, 0, 1)
			}
		}
		d.seen = line
	}
	out := slices.Clone(d.list)
	for i := range out {
		out[i].After = before(out[i].Line)
	}
	return out, nil
}

// decisionOf returns what an event says was decided, in one line; "" for others.
func decisionOf(raw []byte) string {
	if !bytes.Contains(raw, []byte(`eci`)) { // of decision and decided; most events need no reading
		return ""
	}
	kind := gjson.GetBytes(raw, "type").Str
	if kind == "" || kind == eventCallType || kind == eventResultType {
		return ""
	}
	for _, f := range derived.Find(derived.Record{Role: "event", Type: kind, Text: strings.ToValidUTF8(string(raw), "\uFFFD")}) {
		if f.Kind == derived.FoundDecision {
			return oneLine(f.Text)
		}
	}
	return ""
}

// id is that of its row in decisions.jsonl.
func (d *Decided) id() string { return fmt.Sprintf("de%d", d.Line) }

// decidedOf are those decisions of in that a pack shows: none where the agent has taken over the file, and not those that its rows replace.
func (w *noteWants) decidedOf(in *Input) []Decided {
	if !slices.Contains(w.kinds, recipe.TypeDecisions) {
		return nil
	}
	own := w.own[recipe.TypeDecisions]
	return slices.DeleteFunc(slices.Clone(in.Decided), func(d Decided) bool { return own[d.id()] })
}

// decidedBefore is how many of the decisions had arrived before the record at a place of m.
func (mm *memo) decidedBefore(m Records, at int) int {
	a := addressOf(m, at)
	n := slices.IndexFunc(mm.decided, func(d Decided) bool {
		if a.event {
			return d.Line >= a.n
		}
		return d.After >= a.n
	})
	if n < 0 {
		return len(mm.decided)
	}
	return n
}

// earlierDecisions is the line that stands for those that there is no room for.
const earlierDecisions = "- earlier ones: " + ctxabi.DecisionsFile + "\n"

// decidedText is a list of decisions in at most room tokens, the newest of them where not all fit, and how many tokens it takes; "" where
// none fits. Of those that say the same the last one stands.
func decidedText(list []Decided, room int, count func(string) int) (text string, tokens int) {
	var lines []string // newest first
	said := map[string]bool{}
	for i, d := range slices.Backward(list) {
		if said[d.Text] {
			continue
		}
		said[d.Text] = true
		short, _ := compress.ClipTokens(d.Text, noteTextShown)
		line, more := fmt.Sprintf("- %s (events:%d)\n", oneLine(short), d.Line), 0
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

// decidedID names the block of those decisions that came since the last compaction.
const decidedID = "new decisions"

// newDecisions is the block of the decisions that do not stand before the conversation when it is folded as f is, in at most room tokens.
func (d *draft) newDecisions(f *fold, room int) (text string, tokens int, err error) {
	list := d.memo.decided
	if len(list) == 0 {
		return "", 0, nil
	}
	if d.journal.present {
		z, err := d.memo.zones(d.history, f, d.counter)
		if err != nil {
			return "", 0, err
		}
		list = list[z.decided:]
	}
	heading := blockHeading + decidedID + "\n"
	text, _ = decidedText(list, room-d.counter.CountCached(heading), d.counter.CountCached)
	if text == "" {
		return "", 0, nil
	}
	return heading + text, d.counter.CountCached(heading + text), nil
}

// reserveDecisions keeps room behind the journal for the decisions that stand there: half of the footer at most.
func (d *draft) reserveDecisions() (err error) {
	room := noCap
	if d.limits.limit > 0 {
		room = min(max(scaled(defaultCaps[recipe.TypeDecisions], d.limits.limit), defaultCaps[recipe.TypeDecisions]/2), d.limits.footer/2)
	}
	if _, d.reserved, err = d.newDecisions(d.clock, room); err != nil {
		return err
	}
	d.limits.footer -= d.reserved
	d.tokens.footer += d.reserved
	return nil
}

// decide shows the decisions behind the journal as it was folded, in the room that was kept for them and what the others left.
func (d *draft) decide() error {
	room := noCap
	if l := d.limits.limit; l > 0 {
		room = d.reserved + max(0, min(d.footerLeft, l-d.total(), l-d.native.bound))
	}
	text, n, err := d.newDecisions(d.fold, room)
	if err != nil {
		return err
	}
	d.tokens.footer += n - d.reserved
	d.native.bound += n - d.reserved
	d.footerLeft += d.reserved - n
	if text != "" {
		k := slices.IndexFunc(d.recipe.Sources, func(s recipe.Source) bool { return s.Type == recipe.TypeDecisions })
		b := block{source: &d.recipe.Sources[k], at: k, id: decidedID, kind: string(recipe.TypeDecisions), phase: phaseDynamic, trust: "history",
			path: ctxabi.DecisionsFile, text: text, tokens: n, asked: n}
		d.footer = slices.Insert(d.footer, 0, b)
	}
	return nil
}
