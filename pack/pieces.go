package pack

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// piece is a record that is shown, or a range of records that is left out.
type piece struct {
	ctxabi.Span
	omitted bool
	lead    bool // stands in the head
	kept    bool // stands behind the boundary
	zone    zone // it is no record as it is, but what stands for records behind the boundary
	body    int  // of a record shown: the weight it may show, 0: in full
	exact   int  // of such a record: the tokens up to which it is shown in full nevertheless
	sums         // of a range left out
}

// pieces gives the journal in order; each record stands in exactly one piece. The records behind
// the boundary from folded on have a line each of their own; 0: none has.
func (f *fold) pieces(m record.Records, folded int) []piece {
	var out []piece
	show := func(line int, kept bool, rule shareRule) {
		out = append(out, pieceOf(m, line, kept, rule))
	}
	for line := 1; line <= f.lead.n; line++ {
		p := pieceOf(m, line, false, f.lead.rule())
		p.lead = true
		out = append(out, p)
	}
	boundary := f.boundary()
	if boundary > 1 {
		s := f.starts[0]
		next, upto := 1, sums{}
		leave := func(until int, before sums) {
			from := until
			if folded > 0 {
				from = max(next, min(until, folded))
			}
			rest := sums{}
			for line := from; line < until; line++ {
				rest = rest.plus(m.At(line))
			}
			if from > next {
				out = append(out, piece{Span: ctxabi.Span{From: next, To: from - 1}, omitted: true, sums: before.minus(upto).minus(rest)})
			}
			for line := from; line < until; line++ {
				out = append(out, piece{Span: ctxabi.Span{From: line, To: line}, kept: true, zone: inFolds})
			}
		}
		pass := func(line int, before sums) {
			next, upto = line+1, before.plus(m.At(line))
		}
		for line := 1; line <= f.lead.n; line++ {
			pass(line, upto)
		}
		first, user := f.keptUsers(s)
		if first > 0 {
			rule := shareRule{above: f.rules.firstCap, to: f.rules.firstCap}
			if first == user {
				rule = f.rules.user
			}
			leave(first, f.first.before)
			show(first, true, rule)
			pass(first, f.first.before)
		}
		if user > first {
			leave(user, s.user.before)
			show(user, true, f.rules.user)
			pass(user, s.user.before)
		}
		leave(boundary, s.before)
	}
	for line := max(boundary, f.lead.n+1); line <= f.n; line++ {
		out = append(out, f.alive(m, line))
	}
	return out
}

// alive is a record as it is shown that is live and no leading one.
func (f *fold) alive(m record.Records, line int) piece {
	rule := f.rules.share(m.At(line))
	if at, ok := f.oddAt(line); ok {
		rule = f.odd[at].rule
	}
	return pieceOf(m, line, false, rule)
}

// pieceOf is a record of which a rule says how much is shown.
func pieceOf(m record.Records, line int, kept bool, rule shareRule) piece {
	p := piece{Span: ctxabi.Span{From: line, To: line}, kept: kept}
	if weight := int(m.At(line).Weight); rule.shown(weight) < weight {
		p.body, p.exact = max(1, rule.to-recordOverhead), rule.exact
	}
	return p
}

// recordOverhead is the part of a record's weight that its heading takes; see ctxabi.Message.Weight.
const recordOverhead = 8
