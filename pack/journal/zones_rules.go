package journal

import "github.com/ctxfs/ctxfs/pack/section"

// zoneRules are what zones take of the room, in thousandths or in tokens.
type zoneRules struct {
	said, summary, state, lines, folds int64
	own                                int64 // delivered summary, always in tokens
}

func (z zoneRules) all() int64 { return z.own + z.derived() }

// derived returns the sum of all zones except the delivered summary.
func (z zoneRules) derived() int64 { return z.said + z.summary + z.state + z.lines + z.folds }

// least returns the minimum that a compaction reserves for zones: the delivered summary and a third
// of the derived zones.
func (z zoneRules) least() int64 { return z.own + z.derived()/3 }

// times scales the derived zones by n/of. The delivered summary keeps its tokens.
func (z zoneRules) times(n, of int64) zoneRules {
	return zoneRules{z.said * n / of, z.summary * n / of, z.state * n / of, z.lines * n / of, z.folds * n / of, z.own}
}

// without removes the zones of some sections and gives their tokens to the others.
func (z zoneRules) without(s section.Set) zoneRules {
	all := z.derived()
	for name, share := range map[string]*int64{section.Requests: &z.said, section.Conclusions: &z.summary,
		section.Quotes: &z.lines, section.Folded: &z.folds} {
		if s.Has(name) {
			*share = 0
		}
	}
	if s.Has(section.Files) && s.Has(section.Runs) {
		z.state = 0
	}
	return z.times(all, max(1, z.derived()))
}

// within shrinks the zones so that they take at most room tokens. Without a delivered summary all
// zones shrink in proportion. With one, the user's words shrink only after the other derived zones
// are empty, and the summary shrinks last.
func (z zoneRules) within(room int64) zoneRules {
	if z.all() <= room {
		return z
	}
	if z.own == 0 {
		return z.times(room, z.all())
	}
	z.own = min(z.own, max(0, room))
	said := min(z.said, room-z.own)
	z.said = 0
	z = z.times(room-z.own-said, max(1, z.derived()))
	z.said = said
	return z
}

// Zoned reports whether the journal replaces compacted records with zones. Only then can it show a
// delivered summary.
func (j Policy) Zoned() bool {
	z := j.zoneRules(0)
	return z.all() > 0
}

// minZoned is below how many tokens of room there are no zones.
const minZoned = 600

// zoneRules returns the shares of a step of [Policy.Rules]. A journal that drops what does not fit has no zones, and neither have the
// steps that keep the last request alone. A step that splits groups starts again with large shares: the calls and results that left
// their group, which may still be open, are shown by the zones.
func (j Policy) zoneRules(step int) zoneRules {
	if j.Truncate || j.iterations > 0 || step > lastKeptStep {
		return zoneRules{}
	}
	z := j.zones.without(j.Without)
	// What is live keeps at least a fifth of what stays.
	if most := j.low * 8 / 10; z.all() > most {
		z = z.times(most, z.all())
	}
	smaller := max(0, step-6) / 2
	if step > lastWholeStep {
		smaller = step - lastWholeStep
	}
	for range smaller {
		z = z.times(2, 3)
	}
	return z
}

// zonesIn are the tokens that zones may take where so many are left beside the records that are kept.
func (r *Rules) zonesIn(room int64) zoneRules {
	if room < minZoned {
		return zoneRules{}
	}
	return r.zones.times(room, 1000)
}
