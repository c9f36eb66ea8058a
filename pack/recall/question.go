package recall

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/journal"
)

// A question is answered from the whole history: the records that answer best by the index of all of them are read, and of
// these the units that do are shown in the order of their scores: the strongest with what was said before and behind them; the
// clear ones each short at first, then, where there is room left, with what stands around them; then the others.
const (
	mostAnswers  = 160  // records that are read, beside those next to them
	leastAnswers = 48   // likewise
	besideOf     = 32   // of these so many have those next to them read, too
	answerTokens = 40   // what one takes, about
	shortTurn    = 360  // bytes of a record that is shown whole at once
	wholeTurn    = 1600 // bytes of a record that is shown whole where there is room
	nearGap      = 200  // bytes between two shown parts of a record that are shown, too
	meanUnit     = 24   // terms of a unit, about
	strongShare  = 0.7  // of the best score, from which on a unit is shown with what was said before and behind it
	clearShare   = 0.4  // likewise, with what stands around it and with the other half
	answerShare  = 0.2  // likewise, below which a unit does not matter
	contentShare = 0.5  // what counts a part of what a call writes
	besideShare  = 0.3  // of its best neighbour's score that counts for a unit
	wantedShare  = 1.25 // what counts a unit that holds the kind of thing that is asked for
)

// turn is a record that may answer.
type turn struct {
	*oldRecord
	units []unit
	best  float64            // score of a unit
	shown []compress.Passage // of its text, in order
	cost  int                // tokens of these
}

// unit is a part of a record by itself.
type unit struct {
	compress.Passage
	turn  *turn
	score float64
}

// answers are what is chosen for a question so far.
type answers struct {
	q     *Query
	view  *view
	turns map[int]*turn
	order []*turn          // that are shown, in the order in which they were chosen
	lines map[string]*turn // that these show
	room  int

	hidden map[int]bool // places of the question, of what the pack shows whole, and of replaced content
	closed map[int]bool // positions of failures that are over

	changed journal.Changed // statements that the user changed
}

// Answers chooses what old records say to the last request, for room tokens, in the order of the records. It shows none that the pack
// shows whole.
// It returns the error of the memo's context when that ends.
func (q *Query) Answers(boundary, room int) ([]Passage, error) {
	n := q.Fold.N
	f, err := q.Memo.Terms.find(q.Memo.Context, q.History, n, termsOf(compress.Clip(q.Current, recallTask)), max(leastAnswers, min(mostAnswers, room/answerTokens)))
	if err != nil {
		return nil, err
	}
	a := &answers{q: q, turns: map[int]*turn{}, lines: map[string]*turn{}, room: room, hidden: map[int]bool{q.Fold.Last.Line: true}}
	a.changed = q.Memo.Changed(q.History, q.Fold)
	a.closed = q.over()
	for i := range q.Parts {
		if p := &q.Parts[i]; p.From > 0 && !p.Omitted && p.How == "" && p.Zone == 0 {
			a.hidden[p.From] = true
		}
	}
	maps.Copy(a.hidden, q.Memo.Outdated(q.History, n))
	for i, at := range f.places {
		a.turn(at)
		if i < besideOf {
			a.turn(at - 1)
			a.turn(at + 1)
		}
	}
	units := a.rank(&f)
	a.view = q.seen()
	rest := 0
	pairs := func(share float64) {
		for rest < len(units) && units[rest].score >= float64(units[0].score*share) {
			if t := units[rest].turn; a.choose(units[rest]) {
				a.pair(t)
			}
			rest++
		}
	}
	pairs(strongShare)
	a.around(slices.Clone(a.order))
	pairs(clearShare)
	a.widen()
	clear := slices.Clone(a.order)
	for _, u := range units[rest:] {
		if u.score < float64(units[0].score*answerShare) {
			break
		}
		a.choose(u)
	}
	a.around(clear)
	var out []Passage
	slices.SortFunc(a.order, func(x, y *turn) int { return x.at - y.at })
	for _, t := range a.order {
		for _, p := range t.shown {
			out = append(out, q.excerpt(t.oldRecord, p.From, p.To))
		}
	}
	return out, nil
}

// termsOf are the distinct terms of a question, in its order.
func termsOf(question string) (terms []asked) {
	names := map[uint64]bool{}
	for name := range namesIn(question) {
		compress.Terms(name, func(t uint64) { names[t] = true })
	}
	known := map[uint64]bool{}
	compress.Terms(question, func(t uint64) {
		if !known[t] && len(terms) < maxAsked {
			known[t] = true
			terms = append(terms, asked{term: t, name: names[t]})
		}
	})
	return terms
}

// turn reads the record at a place, once; nil where there is none.
func (a *answers) turn(at int) *turn {
	if at < 1 || at > a.q.Fold.N {
		return nil
	}
	if t, ok := a.turns[at]; ok {
		return t
	}
	old, _ := oldAt(a.q.History, at)
	t := &turn{oldRecord: old}
	if old.read {
		for _, p := range unitsOf(old.text) {
			t.units = append(t.units, unit{Passage: p, turn: t})
		}
	}
	a.turns[at] = t
	return t
}

// rank returns the units that answer and may be shown, the best first, of equal ones the newest.
func (a *answers) rank(f *found) (units []unit) {
	worth := map[uint64]float64{}
	for _, t := range f.terms {
		worth[t.term] = t.worth
	}
	want := wantedBy(a.q.Current)
	places := make([]int, 0, len(a.turns))
	for at := range a.turns {
		places = append(places, at)
	}
	slices.Sort(places)
	for _, at := range places {
		t := a.turns[at]
		for i := range t.units {
			u := &t.units[i]
			text := t.text[u.From:u.To]
			if u.score = scoreOf(text, f.terms, worth); u.score > 0 && want.has(text) {
				u.score = float64(u.score * wantedShare)
			}
			if len(t.text)-t.said > shortTurn && u.From >= t.said {
				u.score = float64(u.score * contentShare)
			}
			t.best = max(t.best, u.score)
		}
	}
	for _, at := range places {
		t := a.turns[at]
		if a.hidden[at] {
			continue
		}
		around := 0.0
		for _, k := range []int{at - 1, at + 1} {
			if b := a.turns[k]; b != nil && !a.hidden[k] {
				around = max(around, b.best)
			}
		}
		for i, u := range t.units {
			near := around
			if i > 0 {
				near = max(near, t.units[i-1].score)
			}
			if i+1 < len(t.units) {
				near = max(near, t.units[i+1].score)
			}
			if u.score == 0 && len(t.units) > 2 {
				continue
			}
			if u.score += float64(besideShare * near); u.score > 0 {
				units = append(units, u)
			}
		}
	}
	slices.SortFunc(units, func(x, y unit) int {
		return cmp.Or(cmp.Compare(y.score, x.score), y.turn.at-x.turn.at, x.From-y.From)
	})
	return units
}

// scoreOf is the BM25 score of a text.
func scoreOf(text string, terms []asked, worth map[uint64]float64) (score float64) {
	counts, length := map[uint64]int{}, 0
	compress.Terms(text, func(t uint64) {
		length++
		if worth[t] > 0 {
			counts[t]++
		}
	})
	for _, t := range terms {
		if n := counts[t.term]; n > 0 {
			score += compress.Gain(t.worth, n, length, meanUnit)
		}
	}
	return score
}

// choose shows a unit where there is room for it, or all of a short record. It reports whether it did.
func (a *answers) choose(u unit) bool {
	t := u.turn
	from, to := u.From, u.To
	if len(t.text) <= shortTurn && len(t.units) > 0 {
		from, to = t.units[0].From, t.units[len(t.units)-1].To
	}
	return a.show(t, from, to) || (from != u.From || to != u.To) && a.show(t, u.From, u.To)
}

// show shows a part of a record, and what lies between it and others of it that are near, in as far as it stands nowhere in the
// pack. It reports whether it did.
func (a *answers) show(t *turn, from, to int) bool {
	if a.hidden[t.at] {
		return false
	}
	from, to = a.unseen(t, from, to)
	found := &oldPassage{Passage: compress.Passage{From: from, To: to}, of: t.oldRecord}
	if from == to || a.q.isReplaced(t.oldRecord, from) || a.changed.States(t.at, t.text[from:to]) ||
		a.closed[t.at] && found.tellsFailure() {
		return false
	}
	next := make([]compress.Passage, 0, len(t.shown)+1)
	whole := compress.Passage{From: from, To: to}
	for _, p := range t.shown {
		switch {
		case p.From <= whole.From && whole.To <= p.To:
			return false
		case p.To < whole.From && !a.joins(t, p.To, whole.From), whole.To < p.From && !a.joins(t, whole.To, p.From):
			next = append(next, p)
		default:
			whole = compress.Passage{From: min(p.From, whole.From), To: max(p.To, whole.To)}
		}
	}
	next = append(next, whole)
	slices.SortFunc(next, func(p, q compress.Passage) int { return p.From - q.From })
	cost := 0
	for _, p := range next {
		cost += a.q.excerpt(t.oldRecord, p.From, p.To).Tokens
	}
	if cost-t.cost > a.room || t.cost == 0 && !a.q.chosen.add(t.text[from:to]) {
		return false
	}
	if t.cost == 0 {
		a.order = append(a.order, t)
	}
	a.room -= cost - t.cost
	t.shown, t.cost = next, cost
	compress.EachLine(t.text[whole.From:whole.To], func(_ int, line string) {
		if len(line) >= LineBytes && a.lines[line] == nil {
			a.lines[line] = t
		}
	})
	return true
}

// joins reports whether two parts of a record are shown with what lies between them.
func (a *answers) joins(t *turn, from, to int) bool {
	if strings.TrimSpace(t.text[from:to]) == "" {
		return true
	}
	if to-from > nearGap {
		return false
	}
	f, e := a.unseen(t, from, to)
	gap := trimmed(t.text, from, to)
	return f == gap.From && e == gap.To
}

// widen shows more of what is shown, where there is room left: all of a record, or what stands around its parts.
func (a *answers) widen() {
	for _, t := range slices.Clone(a.order) {
		if len(t.units) == 0 {
			continue
		}
		if len(t.text) <= wholeTurn && a.show(t, t.units[0].From, t.units[len(t.units)-1].To) {
			continue
		}
		for _, p := range slices.Clone(t.shown) {
			for i, u := range t.units {
				if i+1 < len(t.units) && t.units[i+1].From == p.From || i > 0 && t.units[i-1].To == p.To {
					a.show(t, u.From, u.To)
				}
			}
		}
	}
}

// unseen returns the longest part of a record in between two bytes none of whose lines stands in the pack, or in another record
// that is shown.
func (a *answers) unseen(t *turn, from, to int) (begin, end int) {
	text := t.text[from:to]
	hidden := func(line string) bool {
		return a.view.has(line) || a.lines[line] != nil && a.lines[line] != t
	}
	begin, end = longestRun(text, linesOf(text), hidden, a.view.isOver)
	return from + begin, from + end
}
