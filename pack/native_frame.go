package pack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// script makes the script of the journal as it is folded.
// It returns ctxabi.ErrIO if the call of a live result cannot be read.
func (d *draft) script() (*native.Script, error) {
	lines := make([]native.Line, 0, len(d.parts))
	shown := map[record.Address]bool{} // records, without notes
	var day *journal.Part              // of the next record
	for i := range d.parts {
		p := &d.parts[i]
		switch {
		case p.Day != "":
			day = p
			continue
		case p.Mark:
			lines = append(lines, native.Line{Note: p.Text, Quote: p.Past, Past: true, Tokens: p.Tokens})
			continue
		case p.From == 0: // a heading, or the legend
			continue
		}
		l := native.Line{Address: record.AddressOf(d.history, p.From), Lead: p.Lead, Past: p.Kept || p.Omitted, Tokens: p.Tokens}
		if p.Omitted || p.Contents == nil {
			l.Note, l.Quote = p.Text, p.Past
		} else {
			l.Role, l.Contents = p.Role, p.Contents
			l.Instead = p.Instead
			if p.How != "" && p.Instead == nil {
				l.Shown = p.Text
			}
			l.Carried = d.carried(p)
			l.Unthought = d.fold.Rules.HidesThinking(costOfThoughts(p.Contents))
			if day != nil {
				l.Day, l.Tokens, day = day.Day, l.Tokens+day.Tokens+native.MessageTokens, nil
			}
			shown[l.Address] = true
			call, err := d.restored(&l, shown)
			if err != nil {
				return nil, err
			}
			lines = append(lines, call...)
		}
		lines = append(lines, l)
	}
	return native.NewScript(lines, d.in.labelMarks()), nil
}

// restored returns a line with the calls of the results in a live record, if the record with the
// calls is not shown.
func (d *draft) restored(l *native.Line, shown map[record.Address]bool) ([]native.Line, error) {
	log := d.in.Messages
	if l.Address.Event {
		log = d.in.Events
	}
	call := record.Address{Line: int(log.At(l.Address.Line).CallOf), Event: l.Address.Event}
	if l.Past || call.Line == 0 || shown[call] {
		return nil, nil
	}

	var ids []string
	for _, c := range l.Contents {
		if c.Kind == record.ResultPortion && c.ID != "" {
			ids = append(ids, c.ID)
		}
	}

	list, err := record.RestoredCalls(log, call, ids)
	if list == nil || err != nil {
		return nil, err
	}
	for i := range list {
		c := &list[i]
		c.Extra += d.counter.CountCached(c.Text) + d.counter.CountCached(c.Name) + 8
		c.Forget()
	}
	return []native.Line{{Address: call, Role: ctxabi.Assistant, Contents: list, Restores: ids,
		Unthought: d.fold.Rules.HidesThinking(costOfThoughts(list))}}, nil
}

// costOfThoughts returns the tokens of the thinking in a record.
func costOfThoughts(contents []record.Portion) (n int) {
	for i := range contents {
		if contents[i].Kind == record.ThoughtPortion {
			n += contents[i].Extra
		}
	}
	return n
}

// carried reports whether the images of a record are shown: until the first compaction after ImageTurns requests, where there is room
// for them. Behind the boundary the fold decides; see [journal.Fold.KeepsImages].
func (d *draft) carried(p *journal.Part) bool {
	if !slices.ContainsFunc(p.Contents, func(c record.Portion) bool { return c.Kind == record.DataPortion || len(c.Marks) > 0 }) {
		return false
	}
	cost := journal.CostOf(p.Contents)
	if p.From < d.imagesFrom || d.fold.Rules.HidesImages(d.history.At(p.From), cost) {
		return false
	}
	if p.Kept && d.fold.Rules.Bounded() {
		return d.fold.KeepsImages(p.From)
	}
	return !d.decayed(p)
}

// decayed reports whether ImageTurns requests followed a record before the last compaction.
func (d *draft) decayed(p *journal.Part) bool {
	turns := 0
	for at := p.From + 1; at <= d.fold.Compacted && turns < journal.ImageTurns; at++ {
		if record.IsUser(d.history.At(at)) {
			turns++
		}
	}
	return turns >= journal.ImageTurns
}

// imageNote returns a sentence that says that no rendering has the images of the newest record of
// the user that has some; "" if they have.
func (d *draft) imageNote() string {
	for i := len(d.parts) - 1; i >= 0; i-- {
		p := &d.parts[i]
		cost := journal.CostOf(p.Contents)
		if cost == 0 || p.Role != ctxabi.User {
			continue
		}
		if d.carried(p) || d.decayed(p) {
			return ""
		}
		return fmt.Sprintf("the newest images of the user, in message %s, are not sent: %d tokens do not fit into the budget",
			record.AddressOf(d.history, p.From), cost)
	}
	return ""
}

// lastRequestOnly is the script of a recipe without a journal: the last request of the user.
func (d *draft) lastRequestOnly() (*native.Script, error) {
	at := d.clock.Last.Line
	text, err := d.memo.Request(d.history, at)
	if at == 0 || err != nil {
		return native.NewScript(nil, d.in.labelMarks()), err
	}
	a := record.AddressOf(d.history, at)
	if l := d.limits; l.limit > 0 {
		room := l.limit - d.tokens.head - d.tokens.footer - native.MessageTokens*(len(d.head)+3) - native.ExtraDialogue - 2*native.QuoteTokens
		text, _ = compress.HeadTail(text, max(1, min(room, l.limit/4)), a.Path())
	}
	if strings.TrimSpace(text) == "" {
		text = record.EmptyMessage
	}
	s := &native.Script{Turns: []native.Turn{{By: native.ByUser, Slots: []native.Slot{{Line: -1, Text: text}}}}}
	s.Bound = d.counter.CountCached(text) + native.MessageTokens
	return s, nil
}

// frameJournal is frameNative with the journal as it is folded.
func (d *draft) frameJournal() error {
	s, err := d.script()
	if err != nil {
		return err
	}
	return d.frameNative(s)
}

// frameNative makes what native renderings are made from; s is the script of the journal, nil when there is none.
func (d *draft) frameNative(s *native.Script) (err error) {
	if s == nil {
		if s, err = d.lastRequestOnly(); err != nil {
			return err
		}
	}
	n := &native.Prompt{Script: s, Limit: d.limits.limit, Counter: d.counter}
	var sections []blocks.Section
	n.Bound = s.Bound + d.tokens.footer + native.ExtraDialogue + native.MessageTokens
	var labeled []block
	for _, b := range d.head {
		switch {
		case b.text == "":
			continue
		case b.kind == "section":
			text := b.raw
			if b.cut {
				_, text, _ = strings.Cut(b.text, "\n")
			}
			if b.label != ctxabi.Unlabeled {
				text = d.in.labelMarks().Quote(b.label, text)
				n.Bound += native.QuoteTokens
			}
			sections = append(sections, blocks.Section{Name: strings.TrimPrefix(b.id, d.strategy.Name+"/"), Content: text, Source: b.path})
		case b.source.Type == recipe.TypeTools:
			continue
		case b.kind == markKind:
		case b.label != ctxabi.Unlabeled:
			labeled = append(labeled, b)
		default:
			n.Head = append(n.Head, native.Head{Text: b.text, Stable: b.phase == phaseStable})
		}
		n.Bound += b.tokens
	}
	for i := range d.parts {
		if p := &d.parts[i]; p.Legend {
			n.Head = append(n.Head, native.Head{Text: p.Text})
			n.Bound += p.Tokens
		}
	}
	n.Bound += native.MessageTokens * len(native.Heads(n.Head, n.Limit))
	for _, b := range d.marked(labeled) {
		n.Quoted += b.text
	}
	if n.Quoted != "" {
		n.Bound += native.MessageTokens
	}
	n.Messages = blocks.StrategyMessages("", sections, d.recipe.Messages)
	if len(d.recipe.Messages) > 0 {
		for _, m := range n.Messages {
			n.Bound += d.counter.CountCached(m.Content)
		}
	}
	n.Bound += native.MessageTokens*len(n.Messages) + d.toolTokens
	for k := range d.recipe.Sources {
		if d.recipe.Sources[k].Type == recipe.TypeTools && d.Wanted[k] {
			for _, f := range d.usable(k) {
				n.Tools = native.ParseTools(f.Data)
			}
		}
	}
	d.native = n
	return nil
}

// repairs lists what was done so that native renderings are valid.
func (d *draft) repairs() []native.Repair {
	list := d.native.Script.Repairs
	for _, r := range d.native.Tools.Repairs {
		list = append(slices.Clip(list), native.Repair{Repair: r, Source: ctxabi.ToolsFile})
	}
	return list
}
