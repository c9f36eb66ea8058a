package pack

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// script makes the script of the journal as it is folded.
func (d *draft) script() *script {
	lines := make([]scriptLine, 0, len(d.parts))
	for i := range d.parts {
		p := &d.parts[i]
		if p.From == 0 { // the conversation's heading
			continue
		}
		l := scriptLine{at: record.AddressOf(d.history, p.From), lead: p.Lead, past: p.Kept || p.Omitted, tokens: p.Tokens}
		if p.Omitted || p.Contents == nil {
			l.note = p.Text
		} else {
			l.role, l.contents = p.Role, p.Contents
			l.instead = p.Instead
			if p.How != "" && p.Instead == nil {
				l.shown = p.Text
			}
			l.carried = d.carried(p)
		}
		lines = append(lines, l)
	}
	return write(lines)
}

// carried reports whether the images of a record are shown: until the first compaction after two turns, where there is room for them.
func (d *draft) carried(p *journal.Part) bool {
	if !slices.ContainsFunc(p.Contents, func(c record.Portion) bool { return c.Kind == record.DataPortion || len(c.Marks) > 0 }) {
		return false
	}
	if cost := journal.CostOf(p.Contents); p.From < d.imagesFrom || d.fold.Rules.HidesImages(cost) {
		return false
	}
	turns := 0
	for at := p.From + 1; at <= d.fold.Compacted && turns < 2; at++ {
		if record.IsUser(d.history.At(at)) {
			turns++
		}
	}
	return turns < 2
}

// lastRequestOnly is the script of a recipe without a journal: the last request of the user.
func (d *draft) lastRequestOnly() (*script, error) {
	at := d.clock.Last.Line
	text, err := d.memo.Request(d.history, at)
	if at == 0 || err != nil {
		return write(nil), err
	}
	a := record.AddressOf(d.history, at)
	if l := d.limits; l.limit > 0 {
		room := l.limit - d.tokens.head - d.tokens.footer - messageTokens*(len(d.head)+2) - extraDialogue
		text, _ = compress.HeadTail(text, max(1, min(room, l.limit/4)), a.Path())
	}
	if strings.TrimSpace(text) == "" {
		text = record.NothingSaid
	}
	s := &script{turns: []scriptTurn{{by: byUser, slots: []slot{{line: -1, text: text}}}}}
	s.bound = d.counter.CountCached(text) + messageTokens
	return s, nil
}

// frameNative makes what native renderings are made from; s is the script of the journal, nil when there is none.
func (d *draft) frameNative(s *script) (err error) {
	if s == nil {
		if s, err = d.lastRequestOnly(); err != nil {
			return err
		}
	}
	n := &native{script: s, limit: d.limits.limit, counter: d.counter}
	var sections []section
	n.bound = s.bound + d.tokens.footer + extraDialogue
	for _, b := range d.head {
		switch {
		case b.text == "":
			continue
		case b.kind == "section":
			text := b.raw
			if b.cut {
				_, text, _ = strings.Cut(b.text, "\n")
			}
			sections = append(sections, section{Name: strings.TrimPrefix(b.id, d.strategy.Name+"/"), Content: text, Source: b.path})
		case b.source.Type == recipe.TypeTools:
			continue
		default:
			n.head = append(n.head, headText{text: b.text, stable: b.phase == phaseStable})
		}
		n.bound += b.tokens
	}
	n.bound += messageTokens * len(headTexts(n.head, n.limit))
	n.said = strategyMessages("", sections, d.recipe.Messages)
	if len(d.recipe.Messages) > 0 {
		for _, m := range n.said {
			n.bound += d.counter.CountCached(m.Content)
		}
	}
	n.bound += messageTokens*len(n.said) + d.toolTokens
	for k := range d.recipe.Sources {
		if d.recipe.Sources[k].Type == recipe.TypeTools && d.wanted[k] {
			for _, f := range d.usable(k) {
				n.tools = d.memo.toolSet(&f)
			}
		}
	}
	d.native = n
	return nil
}

// repairs lists what was done so that native renderings are valid.
func (d *draft) repairs() []repair {
	list := d.native.script.repairs
	for _, r := range d.native.tools.repairs {
		list = append(slices.Clip(list), repair{r, ctxabi.ToolsFile})
	}
	return list
}
