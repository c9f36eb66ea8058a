package native

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/record"
)

// Repair is what was done to make a history valid that is not.
type Repair struct {
	Repair string `json:"repair"`
	Source string `json:"source"`
}

func (w *scripter) repair(at record.Address, format string, args ...any) {
	r := Repair{fmt.Sprintf(format, args...), at.Source()}
	if !slices.Contains(w.Repairs[max(0, len(w.Repairs)-shownRepairs):], r) {
		w.Repairs = append(w.Repairs, r)
	}
}

// leftReasoning reports reasoning items without a later text or call of the assistant in the same
// turn. The Responses API refuses such items.
func (w *scripter) leftReasoning() {
	said := true // the next turn is unknown
	for i := len(w.Turns) - 1; i >= 0; i-- {
		t := &w.Turns[i]
		if t.By != byAssistant {
			said = t.tail
			continue
		}
		for k := len(t.Slots) - 1; k >= 0; k-- {
			s := &t.Slots[k]
			if said = said || s.kind != record.ThoughtPortion; !said && w.Lines[s.Line].Contents[s.n].Item {
				w.repair(w.Lines[s.Line].Address, "omitted a reasoning item that nothing follows")
			}
		}
	}
}

// seenItem reports whether an item with the own id of c came before, and notes the id.
func (w *scripter) seenItem(c *record.Portion) bool {
	seen := c.ItemID != "" && w.itemIDs[c.ItemID]
	w.itemIDs[c.ItemID] = true
	return seen
}

// Summary counts repairs by their kind, for the report.
func Summary(repairs []Repair) (rows []string) {
	where := map[string][]string{}
	var order []string
	for _, r := range repairs {
		if where[r.Repair] == nil {
			order = append(order, r.Repair)
		}
		where[r.Repair] = append(where[r.Repair], r.Source)
	}
	for _, what := range order {
		list := where[what]
		more := ""
		if len(list) > shownRepairs {
			list, more = list[:shownRepairs], fmt.Sprintf(" and %d more", len(list)-shownRepairs)
		}
		rows = append(rows, fmt.Sprintf("%s: %s%s", what, strings.Join(list, ", "), more))
	}
	return rows
}

// shownRepairs is how many places the report names of each kind of repair.
const shownRepairs = 16
