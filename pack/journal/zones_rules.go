package journal

// zoneRules are what zones take of the room, in thousandths or in tokens.
type zoneRules struct{ said, summary, state, lines, folds int64 }

func (z zoneRules) all() int64 { return z.said + z.summary + z.state + z.lines + z.folds }

// times returns the parts n/of of each.
func (z zoneRules) times(n, of int64) zoneRules {
	return zoneRules{z.said * n / of, z.summary * n / of, z.state * n / of, z.lines * n / of, z.folds * n / of}
}

// minZoned is below how many tokens of room there are no zones.
const minZoned = 600

// zoneRules are those of a step of [Policy.Rules]; a journal that drops what does not fit has no zones.
func (j Policy) zoneRules(step int) zoneRules {
	if j.Truncate || j.iterations > 0 || step > 14 {
		return zoneRules{}
	}
	z := j.zones
	// What is live keeps at least a fifth of what stays.
	if most := j.low * 8 / 10; z.all() > most {
		z = z.times(most, z.all())
	}
	for range max(0, step-6) / 2 {
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
