package claude

import (
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// accept replaces data in records of other formats that the provider refuses, and stores the
// resulting parts of each record in w.accepted.
func (w *claudeWriter) accept(entries []claudeEntry) {
	w.accepted = map[*adapter.Record][]ctxabi.Part{}
	byChain := map[string][]int{}
	for i, e := range entries {
		if e.foreign != nil && !e.foreign.Event && ctxabi.DecodeMessage(e.foreign.Line).Images > 0 {
			byChain[e.foreign.Chain] = append(byChain[e.foreign.Chain], i)
		}
	}
	for _, chain := range slices.Sorted(maps.Keys(byChain)) {
		var data []*ctxabi.Part
		var of []int
		for _, i := range byChain[chain] {
			m, parts := ctxabi.DecodeParts(entries[i].foreign.Line)
			w.accepted[entries[i].foreign] = parts
			if m.Role == ctxabi.Assistant {
				continue // in whose message the format has no place for data
			}
			var add func(parts []ctxabi.Part)
			add = func(parts []ctxabi.Part) {
				for k := range parts {
					if parts[k].Kind == ctxabi.PartData {
						data, of = append(data, &parts[k]), append(of, i)
					}
					add(parts[k].Inner)
				}
			}
			add(parts)
		}
		adapter.AcceptData(picture.Anthropic, data, func(i int) int { return of[i] }, func(_ int, what string) { w.tally.Add("messages.jsonl", what) })
	}
}
