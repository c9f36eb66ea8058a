package recall

import (
	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// turn is a record that may be recalled.
type turn struct {
	at      int
	speaker string // " user", " tool run_tests"
	text    string // "" if the record cannot be read, or states nothing
	whole   bool   // text is the whole record
	said    int    // bytes of text before the arguments of its calls
	writes  bool   // it calls a tool that changes a file
	units   []unit
	best    float64 // score of its best unit

	shown  []compress.Passage // parts of text that are shown, in order
	tokens int                // of these
}

// unit is a part of a record that is ranked by itself.
type unit struct {
	compress.Passage
	turn  *turn
	terms []uint64 // of its text, in order
	score float64
}

// readTurn reads the record at a place.
func readTurn(m record.Records, at int) *turn {
	t := &turn{at: at}
	r, err := record.ExcerptOf(m, at)
	if err != nil || record.IsUnread(m, at) {
		return t
	}
	t.speaker = record.Speaker(m, at, r)
	if r = withoutLists(r); len(r.Calls) == 1 && r.Calls[0].Name == "" && gjson.Valid(r.Text) &&
		len(gjson.Parse(r.Text).Map()) == 1 {
		return t // an event that states only its type
	}
	t.text, t.whole = journal.BothEnds(r.Whole(), Ends)
	t.said = len(t.text)
	if len(r.Calls) > 0 {
		t.said = min(t.said, len(r.Text))
	}
	for _, call := range r.Calls {
		t.writes = t.writes || compress.KindOf(call.Name) >= compress.EditingTool
	}
	for _, p := range unitsOf(t.text) {
		u := unit{Passage: p, turn: t}
		compress.Terms(t.text[p.From:p.To], func(term uint64) { u.terms = append(u.terms, term) })
		t.units = append(t.units, u)
	}
	return t
}

// all returns the part of the text from its first unit to its last.
func (t *turn) all() compress.Passage {
	return t.between(0, len(t.units)-1)
}

// between returns the part of the text from one unit to another.
func (t *turn) between(first, last int) compress.Passage {
	return compress.Passage{From: t.units[first].From, To: t.units[last].To}
}

// score gives each unit its BM25 score.
func (t *turn) score(terms []asked) {
	place := make(map[uint64]int, len(terms))
	for i, term := range terms {
		place[term.term] = i
	}
	counts := make([]int, len(terms))
	t.best = 0
	for i := range t.units {
		u := &t.units[i]
		clear(counts)
		for _, term := range u.terms {
			if k, known := place[term]; known {
				counts[k]++
			}
		}
		u.score = 0
		for k, n := range counts {
			if n > 0 {
				u.score += compress.Gain(terms[k].worth, n, len(u.terms), meanUnit)
			}
		}
		if len(t.text)-t.said > shortTurn && u.From >= t.said {
			u.score = float64(u.score * contentShare)
		}
		t.best = max(t.best, u.score)
	}
}
