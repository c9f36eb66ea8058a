package journal

import (
	"slices"

	"github.com/ctxfs/ctxfs/internal/coder"
)

func (r *Rules) code(c *coder.Coder) {
	z := &r.zones
	coder.Number(c, &r.room, &r.low, &r.minGain, &r.scale, &z.said, &z.summary, &z.state, &z.lines, &z.folds, &z.own)
	coder.Number(c, &r.leadCap, &r.firstCap, &r.image, &r.shot, &r.free, &r.call, &r.iterations, &r.step, &r.summary)
	coder.Number(c, &r.without)
	c.Flag(&r.anywhere)
	for _, s := range []*shareRule{&r.tool, &r.tight, &r.user, &r.other} {
		s.code(c)
	}
}

func (s *shareRule) code(c *coder.Coder) { coder.Number(c, &s.above, &s.to, &s.exact) }

func (s *Sums) code(c *coder.Coder) {
	coder.Number(c, &s.Bytes, &s.Weight, &s.Events.Bytes, &s.Events.Weight)
}

func (a *Anchor) code(c *coder.Coder) {
	coder.Number(c, &a.Line, &a.Weight, &a.images, &a.turn)
	a.Before.code(c)
}

func (s *start) code(c *coder.Coder) {
	coder.Number(c, &s.line, &s.iteration)
	coder.Number(c, &s.shown, &s.words)
	s.before.code(c)
	c.Flag(&s.isUser)
	s.user.code(c)
}

func (o *odd) code(c *coder.Coder) {
	coder.Number(c, &o.line, &o.weight, &o.less, &o.most, &o.aged)
	o.rule.code(c)
	o.was.code(c)
}

func (r *request) code(c *coder.Coder) { coder.Number(c, &r.user, &r.answer) }

// code codes a fold with its generations.
func (f *Fold) code(c *coder.Coder) {
	f.Rules.code(c)
	last := 0
	coder.List(c, &f.Cuts, func(cut *int) { // each a little more than the one before
		more := *cut - last
		coder.Number(c, &more)
		*cut = last + more
		last = *cut
	})
	f.codeState(c)
	coder.List(c, &f.past, func(g **Fold) {
		if c.Reads {
			*g = &Fold{Rules: f.Rules}
		}
		cuts := len((*g).Cuts)
		if coder.Number(c, &cuts); c.Reads {
			if cuts < 0 || cuts > len(f.Cuts) {
				c.Bad, cuts = true, 0
			}
			(*g).Cuts = slices.Clip(f.Cuts[:cuts])
		}
		(*g).codeState(c)
	})
	if c.Reads {
		for i, g := range f.past {
			g.past = slices.Clip(f.past[:i+1])
		}
	}
}

// codeState codes what a fold knows by itself.
func (f *Fold) codeState(c *coder.Coder) {
	f.Total.code(c)
	coder.Number(c, &f.shown, &f.beyond, &f.settledWeight, &f.settledShown, &f.settledWords, &f.words, &f.surplus, &f.call, &f.answered, &f.held, &f.Lead.shown)
	coder.Number(c, &f.N, &f.imagesFrom, &f.Lead.N, &f.Lead.most, &f.Opening, &f.skipped, &f.heldAt, &f.orphans, &f.Turns, &f.calls,
		&f.Compactions, &f.Compacted, &f.Previous, &f.iteration, &f.from)
	for i := range f.newest {
		coder.Number(c, &f.newest[i])
	}
	coder.List(c, &f.Lead.weights, func(w *int32) { coder.Number(c, w) })
	for _, a := range []*Anchor{&f.First, &f.Last, &f.SettledUser} {
		a.code(c)
	}
	coder.List(c, &f.starts, func(s *start) { s.code(c) })
	coder.List(c, &f.odd, func(o *odd) { o.code(c) })
	coder.List(c, &f.Requests, func(r *request) { r.code(c) })
	coder.List(c, &f.SettledRequests, func(r *request) { r.code(c) })
	coder.Text(c, &f.Moved, &f.LeftBy)
	c.Flag(&f.opened, &f.minor)
	f.asked.code(c)
}

// code codes a part of zones, which has no contents of a record.
func (p *Part) code(c *coder.Coder) {
	coder.Number(c, &p.From, &p.To, &p.Past, &p.body, &p.exact, &p.Tokens, &p.Version, &p.MissingRules)
	coder.Number(c, &p.Zone)
	coder.Number(c, &p.Role)
	c.Flag(&p.Omitted, &p.Lead, &p.Kept, &p.Mark, &p.Legend, &p.VersionCut)
	p.Sums.code(c)
	coder.Text(c, &p.Text, &p.How, &p.Day)
}

func (z *Zones) code(c *coder.Coder) {
	coder.Number(c, &z.from, &z.boundary, &z.at, &z.From, &z.Decided, &z.covers)
	coder.List(c, &z.blocks, func(p *Part) { p.code(c) })
	coder.List(c, &z.folds, func(p *Part) { p.code(c) })
}

// code codes what names zones but for those before them.
func (k *zonesOf) code(c *coder.Coder) {
	k.rules.code(c)
	coder.Number(c, &k.boundary, &k.at)
	summary := string(k.summary[:])
	coder.Text(c, &summary, &k.decided)
	copy(k.summary[:], summary)
}

func (e *entered) code(c *coder.Coder) { coder.Number(c, &e.n, &e.to, &e.after, &e.tokens) }
