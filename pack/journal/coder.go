package journal

import (
	"encoding/binary"
	"slices"
)

// coder writes values one after another, or reads them again in the same order: one function for each type does both, so that what is
// read is what was written.
type coder struct {
	data  []byte // what is written so far, or what is still to be read
	reads bool
	bad   bool // what was to be read is not what was written; all values are zero from there on
}

func number[T ~int | ~int32 | ~int64 | ~uint8](c *coder, all ...*T) {
	for _, p := range all {
		if !c.reads {
			c.data = binary.AppendVarint(c.data, int64(*p))
			continue
		}
		v, n := binary.Varint(c.data)
		if n <= 0 || int64(T(v)) != v {
			c.bad, c.data, v, n = true, nil, 0, 0
		}
		*p, c.data = T(v), c.data[n:]
	}
}

func (c *coder) flag(all ...*bool) {
	for _, p := range all {
		v := uint8(0)
		if *p {
			v = 1
		}
		number(c, &v)
		*p = v == 1
	}
}

func (c *coder) text(all ...*string) {
	for _, p := range all {
		n := len(*p)
		if number(c, &n); !c.reads {
			c.data = append(c.data, *p...)
			continue
		}
		if n < 0 || n > len(c.data) {
			c.bad, c.data, n = true, nil, 0
		}
		*p, c.data = string(c.data[:n]), c.data[n:]
	}
}

// list codes a list whose elements take a byte at least; one codes an element.
func list[T any](c *coder, l *[]T, one func(*T)) {
	n := len(*l)
	if number(c, &n); c.reads {
		if n < 0 || n > len(c.data) {
			c.bad, c.data, n = true, nil, 0
		}
		*l = slices.Clip(make([]T, n))
		if n == 0 {
			*l = nil
		}
	}
	for i := range *l {
		one(&(*l)[i])
	}
}

func (r *Rules) code(c *coder) {
	z := &r.zones
	number(c, &r.room, &r.low, &r.minGain, &r.scale, &z.said, &z.summary, &z.state, &z.lines, &z.folds)
	number(c, &r.leadCap, &r.firstCap, &r.image, &r.free, &r.iterations, &r.step)
	c.flag(&r.anywhere)
	for _, s := range []*shareRule{&r.tool, &r.tight, &r.user, &r.other} {
		s.code(c)
	}
}

func (s *shareRule) code(c *coder) { number(c, &s.above, &s.to, &s.exact) }

func (s *Sums) code(c *coder) {
	number(c, &s.Bytes, &s.Weight, &s.Events.Bytes, &s.Events.Weight)
}

func (a *Anchor) code(c *coder) {
	number(c, &a.Line, &a.Weight, &a.images, &a.turn)
	a.Before.code(c)
}

func (s *start) code(c *coder) {
	number(c, &s.line, &s.iteration)
	number(c, &s.shown)
	s.before.code(c)
	c.flag(&s.isUser)
	s.user.code(c)
}

func (o *odd) code(c *coder) {
	number(c, &o.line, &o.weight, &o.aged)
	o.rule.code(c)
	o.was.code(c)
}

func (r *request) code(c *coder) { number(c, &r.user, &r.answer) }

// code codes a fold with its generations.
func (f *Fold) code(c *coder) {
	f.Rules.code(c)
	last := 0
	list(c, &f.Cuts, func(cut *int) { // each a little more than the one before
		more := *cut - last
		number(c, &more)
		*cut = last + more
		last = *cut
	})
	f.codeState(c)
	list(c, &f.past, func(g **Fold) {
		if c.reads {
			*g = &Fold{Rules: f.Rules}
		}
		cuts := len((*g).Cuts)
		if number(c, &cuts); c.reads {
			if cuts < 0 || cuts > len(f.Cuts) {
				c.bad, cuts = true, 0
			}
			(*g).Cuts = slices.Clip(f.Cuts[:cuts])
		}
		(*g).codeState(c)
	})
	if c.reads {
		for i, g := range f.past {
			g.past = slices.Clip(f.past[:i+1])
		}
	}
}

// codeState codes what a fold knows by itself.
func (f *Fold) codeState(c *coder) {
	f.Total.code(c)
	number(c, &f.shown, &f.beyond, &f.settledWeight, &f.settledShown, &f.surplus, &f.call, &f.answered, &f.held, &f.Lead.shown)
	number(c, &f.N, &f.imagesFrom, &f.Lead.N, &f.Lead.most, &f.Opening, &f.skipped, &f.heldAt, &f.orphans, &f.Turns, &f.calls,
		&f.Compactions, &f.Compacted, &f.Previous, &f.iteration, &f.from)
	for i := range f.newest {
		number(c, &f.newest[i])
	}
	list(c, &f.Lead.weights, func(w *int32) { number(c, w) })
	for _, a := range []*Anchor{&f.First, &f.Last, &f.SettledUser} {
		a.code(c)
	}
	list(c, &f.starts, func(s *start) { s.code(c) })
	list(c, &f.odd, func(o *odd) { o.code(c) })
	list(c, &f.Requests, func(r *request) { r.code(c) })
	list(c, &f.SettledRequests, func(r *request) { r.code(c) })
	c.text(&f.Moved, &f.LeftBy)
	c.flag(&f.opened, &f.minor)
}

// code codes a part of zones, which has no contents of a record.
func (p *Part) code(c *coder) {
	number(c, &p.From, &p.To, &p.past, &p.body, &p.exact, &p.Tokens, &p.Summarized)
	number(c, &p.Zone)
	number(c, &p.Role)
	c.flag(&p.Omitted, &p.Lead, &p.Kept)
	p.Sums.code(c)
	c.text(&p.Text, &p.How, &p.Notes)
}

func (z *Zones) code(c *coder) {
	number(c, &z.from, &z.boundary, &z.at, &z.From, &z.Decided)
	list(c, &z.blocks, func(p *Part) { p.code(c) })
	list(c, &z.folds, func(p *Part) { p.code(c) })
}

// code codes what names zones but for those before them.
func (k *zonesOf) code(c *coder) {
	k.rules.code(c)
	number(c, &k.boundary, &k.at)
	summary := string(k.summary[:])
	c.text(&summary, &k.notes)
	copy(k.summary[:], summary)
}

func (e *entered) code(c *coder) { number(c, &e.to, &e.after) }
