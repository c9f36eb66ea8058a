package journal

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// pictures is what the images of the record at a place cost.
func (mm *Memo) pictures(m record.Records, at int) (int, error) {
	if n, ok := mm.costs[at]; ok {
		return int(n), nil
	}
	a := record.AddressOf(m, at)
	if a.Event {
		return 0, nil // they are shown as lines
	}
	raw, err := m.Record(at)
	if err != nil {
		return 0, record.Unreadable(a, err)
	}
	msg, parts := ctxabi.DecodeParts(raw)
	n := record.TokensOfImages(msg.Role, parts)
	mm.costs[at] = int32(n)
	return n, nil
}

// beyond returns what native renderings take for the live record at a place beyond its text in pack.md; see [Fold.beyondAt].
func (b *zoner) beyond(at int) (n int64, err error) {
	images := 0
	if at <= b.f.Lead.N {
		return 0, nil
	}
	if e := b.m.At(at); e.Flags&ctxabi.HasImages != 0 {
		if images, err = b.mm.pictures(b.m, at); b.f.Rules.HidesImages(e, images) {
			images = 0
		}
	}
	return int64(b.f.beyondAt(at, images)), err
}

// frame returns the tokens that native renderings take for a block or a folded record beyond its text; 0 where [Fold.beyondAt] counts no frames.
func (b *zoner) frame() int {
	if from := b.f.imagesFrom; from == 0 || from > b.z.at {
		return 0
	}
	return record.NoteFrameTokens
}

// staysWhole reports whether the record at a place behind the boundary stands there as it is.
func (b *zoner) staysWhole(at int) bool {
	if at <= b.f.Lead.N {
		return true
	}
	for _, g := range b.f.past {
		if first, user := g.keptUsers(g.from, g.starts[0]); at == first || at == user {
			return true
		}
	}
	return false
}

// excerpt reads a record that the pack can do without; false: it cannot be read, and the zones of this build are made without it.
func (b *zoner) excerpt(at int) (record.Excerpt, bool) {
	r, err := record.ExcerptOf(b.m, at)
	b.unread = b.unread || err != nil
	return r, err == nil && !record.IsUnread(b.m, at)
}
