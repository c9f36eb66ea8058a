package bench

import (
	"fmt"
	"testing"
)

// benchTorn counts the reads of all sizes that bring half a record, or a NUL, beside a writer.
func benchTorn(t *testing.T, z sizes, tab *table) {
	sites := without(newSites(t), before)
	defer stop(sites)
	reads, inside, nul := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for round := 0; ; round++ {
		todo := false
		for _, p := range sites {
			left := z.torn - int(reads[p.name])
			if left <= 0 {
				continue
			}
			todo = true
			n := p.run(t, "torn", p.log(t, fmt.Sprintf("torn-%d", round)), min(left, 20_000))
			reads[p.name] += n[0]
			inside[p.name] += n[1]
			nul[p.name] += n[2]
		}
		if !todo {
			break
		}
	}
	tab.Rows = append(tab.Rows,
		row{Work: "reads of all sizes beside a writer", Unit: "count", Figure: reads},
		row{Work: "... that end inside a record", Unit: "count", Figure: inside},
		row{Work: "... that bring a NUL", Unit: "count", Figure: nul})
	tab.reach("torn", inside[ctxfs]+nul[ctxfs])
	if inside[ctxfs]+nul[ctxfs] > 0 {
		t.Errorf("%g reads of a log were torn, %g brought a NUL", inside[ctxfs], nul[ctxfs])
	}
}
