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
	_, parts := ctxabi.DecodeParts(raw)
	n := record.TokensOfImages(parts)
	mm.costs[at] = int32(n)
	return n, nil
}

// pictures is what the images of the record at a place cost, where they may be shown.
func (b *zoner) pictures(at int) (int64, error) {
	if b.m.At(at).Flags&ctxabi.HasImages == 0 || at <= b.f.Lead.N {
		return 0, nil
	}
	n, err := b.mm.pictures(b.m, at)
	if n > b.f.Rules.image {
		n = 0
	}
	return int64(n), err
}

// staysWhole reports whether the record at a place behind the boundary stands there as it is.
func (b *zoner) staysWhole(at int) bool {
	first, user := b.f.keptUsers(b.f.starts[0])
	return at <= b.f.Lead.N || at == first || at == user
}

// excerpt reads a record that the pack can do without; false: it cannot be read, and the zones of this build are made without it.
func (b *zoner) excerpt(at int) (record.Excerpt, bool) {
	r, err := record.ExcerptOf(b.m, at)
	b.unread = b.unread || err != nil
	return r, err == nil && !record.IsUnread(b.m, at)
}
