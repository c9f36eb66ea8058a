package journal

// zoneRules are what zones take of the room, in thousandths or in tokens.
type zoneRules struct {
	said, summary, state, lines, folds int64
	own                                int64 // tokens of a delivered summary; never in thousandths
}

func (z zoneRules) all() int64 { return z.own + z.derived() }

// derived returns what all zones but the delivered summary take.
func (z zoneRules) derived() int64 { return z.said + z.summary + z.state + z.lines + z.folds }

// least returns what the zones take at least: the delivered summary, and a third of the others.
func (z zoneRules) least() int64 { return z.own + z.derived()/3 }

// times returns the parts n/of of each, and all of the delivered summary.
func (z zoneRules) times(n, of int64) zoneRules {
	return zoneRules{z.said * n / of, z.summary * n / of, z.state * n / of, z.lines * n / of, z.folds * n / of, z.own}
}

// within returns the zones made smaller until they take room tokens. The delivered summary gives
// way last, and next to it the user's words keep their share as long as they can.
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

// Zoned reports whether compacted records have zones, so that the journal shows a delivered
// summary.
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
	z := j.zones
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
