package pack

import (
	"slices"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// A question has all room that is free up to questionRoom tokens and one questionShare-th of the limit: what it needs is seldom more.
const (
	questionRoom  = 2400
	questionShare = 32

	workingRoom = 200 // tokens while the agent works, when each call pays for it anew
)

// recall fills the block of the recipe's source with what there is room for. The journal is folded.
func (d *draft) recall() error {
	k := slices.IndexFunc(d.footer, func(b block) bool { return b.source.Type == recipe.TypeRecall && b.reason == "" })
	if k < 0 {
		return nil
	}
	b := &d.footer[k]
	room := defaultCaps[recipe.TypeRecall]
	asked := d.fold.N > 0 && d.fold.Last.Line == d.fold.N // the newest record is the user's
	asks := false
	if asked {
		request, err := d.memo.Request(d.history, d.fold.N)
		if err != nil || d.saysNothing(request) {
			return err
		}
		asks = recall.Asks(request)
	}
	if l := d.limits.limit; l > 0 {
		room = min(l-d.total(), l-d.native.Bound)
		switch { // what it takes is paid for anew with each request
		case !asks || b.class == explicit:
			room = min(room, capOf(b.source, l))
		default:
			room = min(room, questionRoom+l/questionShare)
		}
		if !asks {
			room = min(room, d.footerLeft)
		}
		if !asked && b.class != explicit {
			room = min(room, workingRoom)
		}
	} else if b.class == explicit && !b.source.Percent {
		room = b.source.MaxTokens
	}
	cut := asked && slices.ContainsFunc(d.parts, func(p journal.Part) bool { return p.How != "" })
	if d.journal.Present && d.fold.Boundary() == 1 && !cut || room < recall.Least {
		return nil
	}
	q := &recall.Query{Memo: d.memo.Memo, History: d.history, Counter: d.counter, Fold: d.fold, Parts: d.parts, Current: d.current, Todo: d.todo}
	for _, b := range append(slices.Clip(d.head), d.footer...) {
		q.Shown = append(q.Shown, b.text)
	}
	q.Shown = append(q.Shown, d.goal.text)
	parts, err := q.Passages(room - d.counter.CountCached(recall.Heading))
	if err != nil || len(parts) == 0 {
		return err
	}
	parts[0].Text = recall.Heading + parts[0].Text
	parts[0].Tokens += d.counter.CountCached(recall.Heading)
	var names []string
	for _, p := range parts {
		b.text += p.Text
		b.tokens += p.Tokens
		names = append(names, p.Address.Source())
	}
	b.asked, b.recalled = b.tokens, parts
	b.notes = []string{"shows " + strings.Join(slices.Compact(names), ", ")}
	d.tokens.footer += b.tokens
	d.native.Bound += b.tokens
	return nil
}

// saysNothing reports whether the newest request names nothing to look for: thanks, "go on", or a
// short reply that answers no question.
func (d *draft) saysNothing(request string) bool {
	switch derived.SenseOf(request) {
	case derived.Idle:
		return true
	case derived.Reply:
		return !strings.Contains(d.current, "?")
	}
	return false
}
