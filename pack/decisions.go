package pack

import (
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// decisions returns the recorded decisions that a pack shows: none where the agent has taken over the
// file, and none that one of its rows replaces.
func (y *layout) decisions() []journal.Decided {
	for k := range y.recipe.Sources {
		s := &y.recipe.Sources[k]
		if s.Type != recipe.TypeDecisions || s.Path != "" && s.Path != blocks.BuiltinPaths[s.Type] || s.Fallback > 0 ||
			y.leftOut(s) || y.facts().Verdict(s.Condition, true) != blocks.Yes {
			continue
		}
		taken := false
		var own []byte
		for _, f := range y.files[k] {
			taken = taken || f.Life != ctxabi.OriginMixed
			own = append(own, f.Data...)
		}
		if !taken {
			ids := journal.NoteIDs(own)
			return slices.DeleteFunc(slices.Clone(y.in.Decided), func(d journal.Decided) bool { return ids[d.ID()] })
		}
	}
	return nil
}

// decidedID names the block of those decisions that came since the last compaction.
const decidedID = "new decisions"

// newDecisions is the block of the decisions that do not stand before the conversation when it is folded as f is, in at most room tokens.
func (d *draft) newDecisions(f *journal.Fold, room int) (text string, tokens int, err error) {
	list := d.memo.Decided
	if len(list) == 0 {
		return "", 0, nil
	}
	if d.journal.Present {
		past, err := d.memo.Zones(d.history, f, d.counter)
		if err != nil {
			return "", 0, err
		}
		list = list[past.Decided():]
	}
	heading := record.BlockHeading + decidedID + "\n"
	text, _ = journal.DecidedText(list, room-d.counter.CountCached(heading), d.counter.CountCached)
	if text == "" {
		return "", 0, nil
	}
	return heading + text, d.counter.CountCached(heading + text), nil
}

// reserveDecisions keeps room behind the journal for the decisions that stand there: half of the footer at most.
func (d *draft) reserveDecisions() (err error) {
	room := blocks.NoCap
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
	room := blocks.NoCap
	if l := d.limits.limit; l > 0 {
		room = d.reserved + max(0, min(d.footerLeft, l-d.total(), l-d.native.Bound))
	}
	text, n, err := d.newDecisions(d.fold, room)
	if err != nil {
		return err
	}
	d.tokens.footer += n - d.reserved
	d.native.Bound += n - d.reserved
	d.footerLeft += d.reserved - n
	if text != "" {
		k := slices.IndexFunc(d.recipe.Sources, func(s recipe.Source) bool { return s.Type == recipe.TypeDecisions })
		b := block{source: &d.recipe.Sources[k], at: k, id: decidedID, kind: string(recipe.TypeDecisions), phase: phaseDynamic, label: ctxabi.Notes, trust: ctxabi.Notes.Trust(),
			path: ctxabi.DecisionsFile, text: text, tokens: n, asked: n}
		at := slices.IndexFunc(d.footer, func(x block) bool { return x.text != "" && x.label == b.label })
		if at < 0 {
			at = len(d.footer)
		}
		d.footer = slices.Insert(d.footer, at, b)
	}
	return nil
}
