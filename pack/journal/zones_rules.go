package journal

// zoneRules are the shares that zones take of the room, in thousandths.
type zoneRules struct{ summary, lines, folds int64 }

// zoneRules are those of a step of [Policy.Rules]; a journal that drops what does not fit has no zones.
func (j Policy) zoneRules(step int) zoneRules {
	if j.Truncate || j.iterations > 0 || step > 14 {
		return zoneRules{}
	}
	z := zoneRules{summary: zoneSummary, lines: j.keyLines, folds: zoneFolds}
	// What is live keeps at least a fifth of what stays.
	if most := j.low * 8 / 10; z.all() > most {
		z = zoneRules{z.summary * most / z.all(), z.lines * most / z.all(), z.folds * most / z.all()}
	}
	for range max(0, step-6) / 2 {
		z = zoneRules{z.summary * 2 / 3, z.lines * 2 / 3, z.folds * 2 / 3}
	}
	return z
}

// Shares of zones, and their bounds.
const (
	zoneSummary = 220 // thousandths of the room
	zoneFolds   = 50
	minZoned    = 600 // tokens of room below which there are no zones
)

func (z zoneRules) all() int64 { return z.summary + z.lines + z.folds }

// zonesIn are the tokens that zones may take where so many are left beside the records that are kept.
func (r *Rules) zonesIn(room int64) zoneRules {
	if room < minZoned || r.zones.all() == 0 {
		return zoneRules{}
	}
	z := r.zones
	return zoneRules{room * z.summary / 1000, room * z.lines / 1000, room * z.folds / 1000}
}
