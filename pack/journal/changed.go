package journal

import (
	"slices"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Changed holds the statements of the user that later ones changed.
type Changed struct {
	of map[int][]derived.Change // by the place of their message
	by map[int][]derived.Change // by the place of the message that changed them
}

// changedOf returns the changes as places of m.
func changedOf(m record.Records, changes []derived.Change) Changed {
	c := Changed{map[int][]derived.Change{}, map[int][]derived.Change{}}
	for _, one := range changes {
		at := record.PositionIn(m, addressOf(one.At))
		c.of[at] = append(c.of[at], one)
		by := record.PositionIn(m, addressOf(one.By))
		c.by[by] = append(c.by[by], one)
	}
	return c
}

func addressOf(p derived.Position) record.Address {
	return record.Address{Event: p.Event, Line: p.Line}
}

// Changed returns the statements that the user changed up to the newest record of f.
func (mm *Memo) Changed(m record.Records, f *Fold) Changed {
	return changedOf(m, mm.Notes(m, f.N).Changes())
}

// States reports whether a text of the record at a place has a statement that a later one changed.
func (c *Changed) States(at int, text string) bool {
	changes := c.of[at]
	if len(changes) == 0 {
		return false
	}
	text = strings.Join(strings.Fields(text), " ")
	return slices.ContainsFunc(changes, func(one derived.Change) bool { return strings.Contains(text, begins(one.Text)) })
}

// pairs reports whether the message at a place changed a statement or has one that changed.
func (c *Changed) pairs(at int) bool { return len(c.of[at])+len(c.by[at]) > 0 }

// begins returns a statement without the sign that its end is cut off.
func begins(text string) string { return strings.TrimSuffix(text, "…") }

// mark returns the mark that follows a changed statement.
func mark(by derived.Position) string { return " [changed at " + addressOf(by).String() + "]" }

// marked returns the parts of the message at a place, with a mark behind each changed one.
func (c *Changed) marked(at int, parts []string) []string {
	if len(c.of[at]) == 0 {
		return parts
	}
	parts = slices.Clone(parts)
	for _, one := range c.of[at] {
		if one.Part < len(parts) {
			parts[one.Part] += mark(one.By)
		}
	}
	return parts
}

// markFolded puts the marks into the line of a folded message.
func (c *Changed) markFolded(at int, line string) string {
	for _, one := range c.of[at] {
		if before, after, ok := strings.Cut(line, one.Text); ok {
			line = before + one.Text + mark(one.By) + after
		} else {
			line = strings.TrimSuffix(line, "\n") + mark(one.By) + "\n"
		}
	}
	return line
}

// restated returns changed statements that the pack shows without a mark: in records that stay
// whole, and in blocks of an earlier compaction, because the change came later.
func (b *zoner) restated(span ctxabi.Span) (list []saying) {
	for at, changes := range b.changed.of {
		for _, one := range changes {
			marked := one.Text + mark(one.By)
			bare := b.staysWhole(at) || at < span.From && b.before.show(begins(one.Text))
			if bare && !b.before.show(marked) {
				list = append(list, saying{at: at, parts: []string{marked}, keep: marked, pair: true, must: true})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b saying) int { return b.at - a.at })
	return list
}

// lifts reports whether the message at a place changed a statement that the prompt keeps, either in
// an earlier block or in a record that stays whole.
func (b *zoner) lifts(at int) bool {
	return slices.ContainsFunc(b.changed.by[at], func(one derived.Change) bool {
		return b.staysWhole(record.PositionIn(b.m, addressOf(one.At))) || b.before.show(begins(one.Text))
	})
}

// show reports whether a block or a folded record has a text.
func (p Past) show(text string) bool {
	return slices.ContainsFunc(p, func(z *Zones) bool {
		return slices.ContainsFunc(slices.Concat(z.blocks, z.folds), func(p Part) bool { return strings.Contains(p.Text, text) })
	})
}

// dropUnpaired removes a changed statement from its line if the prompt does not show the message
// that changed it. Otherwise the model would see a retracted statement without its retraction. The
// shortened lines take about most tokens.
func (b *zoner) dropUnpaired(list []saying, most int) {
	for i := range list {
		s := &list[i]
		if s.line == "" || len(b.changed.of[s.at]) == 0 {
			continue
		}
		rest := *s
		rest.parts = slices.DeleteFunc(slices.Clone(s.parts), func(part string) bool {
			return slices.ContainsFunc(b.changed.of[s.at], func(one derived.Change) bool {
				return strings.HasSuffix(part, mark(one.By)) && !b.shows(one.By, list)
			})
		})

		switch {
		case len(rest.parts) == 0:
			s.line = ""
		case len(rest.parts) < len(s.parts):
			rest.cut, rest.message = true, nil
			s.line = b.sayingLine(&rest, most)
		}
	}
}

// shows reports whether the pack shows the message at a position: in the lines, folded, or live.
func (b *zoner) shows(p derived.Position, list []saying) bool {
	at := record.PositionIn(b.m, addressOf(p))
	i := slices.IndexFunc(list, func(s saying) bool { return s.at == at })
	return at >= b.z.boundary || b.isFolded(at) || b.staysWhole(at) || i >= 0 && list[i].line != "" ||
		b.before.show("- ["+addressOf(p).String()+"] ")
}
