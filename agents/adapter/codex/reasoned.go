package codex

import (
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Reasoned removes reasoning items that the API refuses: duplicates, and items without a following
// text or call in the same assistant turn. It adds each one to lost.
func Reasoned(said []adapter.Speech, lost *adapter.Tally) {
	goesOn := false // with the speech behind the one that is looked at
	for i := len(said) - 1; i >= 0; i-- {
		s := &said[i]
		if s.Role != ctxabi.Assistant {
			goesOn = false
			continue
		}
		next := goesOn && len(s.Answers) == 0
		goesOn = next
		var kept []ctxabi.Part
		for _, p := range slices.Backward(s.Parts) {
			switch thinks := p.Kind == ctxabi.PartThinking; {
			case thinks && !next && isReasoning(p.Raw):
				lost.Add(s.Where, "reasoning that nothing follows is left out; the API refuses it")
				continue
			case !thinks:
				next, goesOn = true, true
			}
			kept = append(kept, p)
		}
		slices.Reverse(kept)
		s.Parts = kept
	}
	seen := map[string]bool{}
	for i := range said {
		said[i].Parts = slices.DeleteFunc(said[i].Parts, func(p ctxabi.Part) bool {
			if p.Kind != ctxabi.PartThinking || !isReasoning(p.Raw) {
				return false
			}
			o, _ := adapter.ParseObject(p.Raw)
			id := o.Text("id")
			again := id != "" && seen[id]
			if seen[id] = true; again {
				lost.Add(said[i].Where, "a reasoning item that came before is left out")
			}
			return again
		})
	}
}

// isReasoning reports whether a thinking part is a reasoning item of the API.
func isReasoning(raw []byte) bool {
	o, _ := adapter.ParseObject(raw)
	return o.Text("type") == "reasoning" && o.Has("summary")
}
