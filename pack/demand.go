package pack

import (
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// demand sums up what the sources ask for. A source whose condition looks at the
// history counts as if it held.
func (y *layout) demand() demand {
	var d demand
	sources := y.recipe.Sources
	for k := 0; k < len(sources); {
		var most demand
		head := k
		for k == head || k < len(sources) && sources[k].Fallback > 0 {
			s, at := &sources[k], k
			k++
			if s.Type == recipe.TypeJournal || y.inJournal(at) || y.leftOut(s) || !y.facts().Possible(s.Condition) {
				continue
			}
			n, yields := y.ask(at)
			most.add(s, n, y.limit)
			if yields && y.facts().Verdict(s.Condition, true) == blocks.Yes {
				for k < len(sources) && sources[k].Fallback > 0 {
					k++
				}
			}
		}
		d.required, d.whole, d.explicit = d.required+most.required, d.whole+most.whole, d.explicit+most.explicit
		d.footer, d.standard, d.chosen = d.footer+most.footer, d.standard+most.standard, d.chosen+most.chosen
		d.written += most.written
	}

	for _, s := range y.strategy.Sections {
		if b := y.sectionBlock(s, 0); b.class == whole {
			d.whole += b.asked
		} else {
			d.explicit += s.MaxTokens
		}
	}
	d.journal = y.most
	return d
}

// findMost sets y.most to the max_tokens of the journal's source, at least minJournal. A percentage
// counts only if the pack has a limit.
func (y *layout) findMost(journal int) {
	if journal < 0 {
		return
	}
	if s := &y.recipe.Sources[journal]; s.MaxTokens > 0 && (y.limit > 0 || !s.Percent) {
		y.most = max(minJournal, capOf(&recipe.Source{Type: recipe.TypeComputed, MaxTokens: s.MaxTokens,
			Percent: s.Percent}, y.limit))
	}
}

// add makes a source of a chain, of which one is used, ask for n tokens.
func (d *demand) add(s *recipe.Source, n, limit int) {
	switch c := ClassOf(s); {
	case c == Required:
		d.required = max(d.required, n)
	case c == whole:
		d.whole = max(d.whole, n)
	case c == explicit && s.Phase == recipe.Dynamic:
		d.footer = max(d.footer, n)
	case c == explicit:
		d.explicit = max(d.explicit, n)
	case s.Phase != recipe.Dynamic:
		d.standard = max(d.standard, n)
	case s.Type.Selected():
		d.chosen = max(d.chosen, n)
	case agentWrites[s.Type]:
		d.written = max(d.written, n)
	}
}

// ask is how many tokens source k asks for, and whether it certainly yields something.
func (y *layout) ask(k int) (n int, yields bool) {
	s := &y.recipe.Sources[k]
	switch ClassOf(s) {
	case Required, whole:
		blocks := y.contents(k, "", blocks.NoCap)
		if s.Type == recipe.TypeSystemRole && len(blocks) == 0 {
			blocks = y.systemPrompt(k)
		}
		for i := range blocks {
			n += blocks[i].asked
			yields = yields || blocks[i].text != ""
		}
		return n, yields
	case explicit:
		if y.limit == 0 {
			return 0, false
		}
		if (s.Type == recipe.TypeFile || s.Type == recipe.TypeProject) && len(y.files[k]) == 0 {
			return 0, false
		}
		return capOf(s, y.limit), false
	}
	if !s.Type.Computed() && len(y.files[k]) == 0 && !(s.Type == recipe.TypeErrors && len(y.in.Errors) > 0) && !(s.Type == recipe.TypeChildren && len(y.in.Children) > 0) {
		return 0, false
	}
	if agentWrites[s.Type] && y.limit > 0 {
		blocks := y.contents(k, "", blocks.NoCap)
		for i := range blocks {
			n += blocks[i].asked
		}
		step := max(64, y.limit/64) // small edits do not refold history
		return min((n+step-1)/step*step, capOf(s, y.limit)), false
	}
	return defaultCap(s, y.limit), false
}
