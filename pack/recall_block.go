package pack

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

// recall fills the block of the recipe's source with what there is room for. The journal is folded.
func (d *draft) recall() error {
	k := slices.IndexFunc(d.footer, func(b block) bool { return b.source.Type == recipe.TypeRecall && b.reason == "" })
	if k < 0 {
		return nil
	}
	b := &d.footer[k]
	room := defaultCaps[recipe.TypeRecall]
	if l := d.limits.limit; l > 0 {
		room = min(capOf(b.source, l), d.footerLeft, l-d.total(), l-d.native.Bound)
	} else if b.class == explicit && !b.source.Percent {
		room = b.source.MaxTokens
	}
	boundary := d.fold.Boundary()
	if !d.journal.Present {
		boundary = d.fold.N + 1
	}
	if boundary == 1 || room < minRecall {
		return nil
	}
	q := &recallQuery{memo: d.memo.recallMemo, history: d.history, counter: d.counter, fold: d.fold, parts: d.parts, current: d.current, todo: d.todo}
	for _, b := range append(slices.Clip(d.head), d.footer...) {
		q.shown = append(q.shown, b.text)
	}
	q.shown = append(q.shown, d.goal.text)
	parts, err := q.recalled(boundary, room-d.counter.CountCached(recallHeading))
	if err != nil || len(parts) == 0 {
		return err
	}
	parts[0].text = recallHeading + parts[0].text
	parts[0].tokens += d.counter.CountCached(recallHeading)
	var names []string
	for _, p := range parts {
		b.text += p.text
		b.tokens += p.tokens
		names = append(names, p.address.Source())
	}
	b.asked, b.recalled = b.tokens, parts
	b.notes = []string{"shows " + strings.Join(slices.Compact(names), ", ")}
	d.tokens.footer += b.tokens
	d.native.Bound += b.tokens
	return nil
}
