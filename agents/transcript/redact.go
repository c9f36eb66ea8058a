package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/redact"
)

// Redact takes the secrets out of the records of an export, in all their strings and names, those included that only a later
// record tells to be some. It says how many there were, by kind.
func Redact(r *redact.Redactor, logs [][]adapter.Record) string {
	learning := r.Learning()
	for _, log := range logs {
		for i := range log {
			learning.Add(log[i].Line)
		}
	}
	known, kinds, n := learning.Known(), map[string]int{}, 0
	for _, log := range logs {
		for i := range log {
			line, found := r.File(log[i].Line, known)
			log[i].Line = line
			for _, f := range found {
				kinds[f.Rule]++
				n++
			}
		}
	}
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		list = append(list, fmt.Sprintf("%d %s", kinds[kind], kind))
	}
	if n == 0 {
		return "redacted: no secret was found"
	}
	return fmt.Sprintf("redacted: %d secrets (%s)", n, strings.Join(list, ", "))
}
