package journal

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Piece is a record that is shown, or a range of records that is left out.
type Piece struct {
	ctxabi.Span
	Omitted bool
	Lead    bool // stands in the head
	Kept    bool // stands behind the boundary
	Zone    Zone // it is no record as it is, but what stands for records behind the boundary
	Past    int  // behind the boundary: the generation that it belongs to
	body    int  // of a record shown: the weight it may show, 0: in full
	exact   int  // of such a record: the tokens up to which it is shown in full nevertheless
	Sums         // of a range left out
}

// pieces returns the journal in order; each record stands in exactly one piece. Of each generation, in its order, stand the first user
// record, a piece InBlocks in place of its blocks, and the rest of its records, of which those from folded on have a line each of their
// own; 0, or no number for it: none has.
func (f *Fold) pieces(m record.Records, folded ...int) []Piece {
	var out []Piece
	for line := 1; line <= f.Lead.N; line++ {
		p := pieceOf(m, line, false, f.Lead.rule())
		p.Lead = true
		out = append(out, p)
	}
	boundary := f.Boundary()
	if boundary > 1 {
		w := pastPieces{f: f, m: m, next: 1}
		for line := 1; line <= f.Lead.N; line++ {
			w.pass(line, w.upto)
		}
		for i, g := range f.past {
			w.folded = 0
			if i < len(folded) {
				w.folded = folded[i]
			}
			w.generation(i, g)
		}
		out = append(out, w.out...)
	}
	for line := max(boundary, f.Lead.N+1); line <= f.N; line++ {
		out = append(out, f.alive(m, line))
	}
	return out
}

// pastPieces makes the pieces of what is behind the boundary.
type pastPieces struct {
	f      *Fold
	m      record.Records
	out    []Piece
	past   int  // the generation going on
	folded int  // its first folded record; 0: none is
	next   int  // the first record that has no piece yet
	upto   Sums // of the records before it
}

func (w *pastPieces) generation(i int, g *Fold) {
	w.past = i
	s := g.starts[0]
	first, user := g.keptUsers(g.from, s)
	if first > 0 {
		rule := shareRule{above: g.Rules.firstCap, to: g.Rules.firstCap}
		if first == user {
			rule = g.Rules.user
		}
		w.keep(first, g.First.Before, rule)
	}
	w.out = append(w.out, Piece{Kept: true, Zone: InBlocks, Past: i})
	if user > first {
		w.keep(user, s.user.Before, g.Rules.user)
	}
	w.leave(s.line, s.before)
}

// keep adds the record at a place as a rule shows it, and before it what is left out.
func (w *pastPieces) keep(line int, before Sums, rule shareRule) {
	w.leave(line, before)
	p := pieceOf(w.m, line, true, rule)
	p.Past = w.past
	w.out = append(w.out, p)
	w.pass(line, before)
}

// leave adds the records up to a place, before which lie those that before sums up: left out, or folded.
func (w *pastPieces) leave(until int, before Sums) {
	from := until
	if w.folded > 0 {
		from = max(w.next, min(until, w.folded))
	}
	rest := Sums{}
	for line := from; line < until; line++ {
		rest = rest.plus(w.m.At(line))
	}
	if from > w.next {
		w.out = append(w.out, Piece{Span: ctxabi.Span{From: w.next, To: from - 1}, Omitted: true, Sums: before.minus(w.upto).minus(rest), Past: w.past})
	}
	for line := from; line < until; line++ {
		w.out = append(w.out, Piece{Span: ctxabi.Span{From: line, To: line}, Kept: true, Zone: InFolds, Past: w.past})
	}
	w.next, w.upto = until, before
}

// pass goes on behind the record at a place.
func (w *pastPieces) pass(line int, before Sums) {
	w.next, w.upto = line+1, before.plus(w.m.At(line))
}

// alive is a record as it is shown that is live and no leading one.
func (f *Fold) alive(m record.Records, line int) Piece {
	rule := f.Rules.share(m.At(line))
	if at, ok := f.oddAt(line); ok {
		rule = f.odd[at].rule
	}
	p := pieceOf(m, line, false, rule)
	if weight := int(m.At(line).Weight); p.body == 0 && f.Rules.room > 0 && record.IsResult(m.At(line)) && weight > f.Rules.tool.to {
		p.body = weight // it stands whole, unless it repeats itself
	}
	return p
}

// pieceOf is a record of which a rule says how much is shown.
func pieceOf(m record.Records, line int, kept bool, rule shareRule) Piece {
	p := Piece{Span: ctxabi.Span{From: line, To: line}, Kept: kept}
	if weight := int(m.At(line).Weight); rule.shown(weight) < weight {
		p.body, p.exact = bodyOf(rule), rule.exact
	}
	return p
}

// bodyOf returns how many tokens a rule allows for a record without its heading.
func bodyOf(rule shareRule) int { return max(1, rule.to-recordOverhead) }

// recordOverhead is the part of a record's weight that its heading takes; see ctxabi.Message.Weight.
const recordOverhead = 8
