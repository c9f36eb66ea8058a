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
	body    int  // of a record shown: the weight it may show, 0: in full
	exact   int  // of such a record: the tokens up to which it is shown in full nevertheless
	Sums         // of a range left out
}

// pieces returns the journal in order; each record stands in exactly one piece. The records behind
// the boundary from folded on have a line each of their own; 0: none has.
func (f *Fold) pieces(m record.Records, folded int) []Piece {
	var out []Piece
	show := func(line int, kept bool, rule shareRule) {
		out = append(out, pieceOf(m, line, kept, rule))
	}
	for line := 1; line <= f.Lead.N; line++ {
		p := pieceOf(m, line, false, f.Lead.rule())
		p.Lead = true
		out = append(out, p)
	}
	boundary := f.Boundary()
	if boundary > 1 {
		s := f.starts[0]
		next, upto := 1, Sums{}
		leave := func(until int, before Sums) {
			from := until
			if folded > 0 {
				from = max(next, min(until, folded))
			}
			rest := Sums{}
			for line := from; line < until; line++ {
				rest = rest.plus(m.At(line))
			}
			if from > next {
				out = append(out, Piece{Span: ctxabi.Span{From: next, To: from - 1}, Omitted: true, Sums: before.minus(upto).minus(rest)})
			}
			for line := from; line < until; line++ {
				out = append(out, Piece{Span: ctxabi.Span{From: line, To: line}, Kept: true, Zone: InFolds})
			}
		}
		pass := func(line int, before Sums) {
			next, upto = line+1, before.plus(m.At(line))
		}
		for line := 1; line <= f.Lead.N; line++ {
			pass(line, upto)
		}
		first, user := f.keptUsers(s)
		if first > 0 {
			rule := shareRule{above: f.Rules.firstCap, to: f.Rules.firstCap}
			if first == user {
				rule = f.Rules.user
			}
			leave(first, f.First.Before)
			show(first, true, rule)
			pass(first, f.First.Before)
		}
		if user > first {
			leave(user, s.user.Before)
			show(user, true, f.Rules.user)
			pass(user, s.user.Before)
		}
		leave(boundary, s.before)
	}
	for line := max(boundary, f.Lead.N+1); line <= f.N; line++ {
		out = append(out, f.alive(m, line))
	}
	return out
}

// alive is a record as it is shown that is live and no leading one.
func (f *Fold) alive(m record.Records, line int) Piece {
	rule := f.Rules.share(m.At(line))
	if at, ok := f.oddAt(line); ok {
		rule = f.odd[at].rule
	}
	return pieceOf(m, line, false, rule)
}

// pieceOf is a record of which a rule says how much is shown.
func pieceOf(m record.Records, line int, kept bool, rule shareRule) Piece {
	p := Piece{Span: ctxabi.Span{From: line, To: line}, Kept: kept}
	if weight := int(m.At(line).Weight); rule.shown(weight) < weight {
		p.body, p.exact = max(1, rule.to-recordOverhead), rule.exact
	}
	return p
}

// recordOverhead is the part of a record's weight that its heading takes; see ctxabi.Message.Weight.
const recordOverhead = 8
