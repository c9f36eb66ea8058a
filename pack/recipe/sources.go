package recipe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// sources reads the sources of one file. imported are those that its imports brought.
func (r *reader) sources(n *yaml.Node, imported []group) (own []group) {
	o := objectOf("recipe")
	items, ok := r.items(n, &o.Fields[slices.IndexFunc(o.Fields, func(f field) bool { return f.Key == "sources" })])
	if !ok {
		return nil
	}
	var journal *yaml.Node
	ids := map[string]int{}
	for _, c := range items {
		g := r.group(c, imported)
		if g[0].Type == TypeJournal {
			if journal != nil {
				r.bad(c, "a second journal; a recipe has one, and the first is in line %d", journal.Line)
			} else {
				journal = c
			}
		}
		for _, s := range g {
			at := s.Origins["id"]
			if s.ID == "" || at.File != r.file {
				continue
			}
			if line, dup := ids[s.ID]; dup {
				r.l.add(Problem{Origin: at, Text: fmt.Sprintf("duplicate id %q; it is in line %d already", s.ID, line)})
			} else {
				ids[s.ID] = at.Line
			}
		}
		own = append(own, g)
	}
	return own
}

// group reads a source with its fallbacks.
func (r *reader) group(n *yaml.Node, imported []group) group {
	outer := r.origins
	defer func() { r.origins = outer }()
	if lookup(n, "type") == nil {
		if g := r.tuned(n, imported); g != nil {
			return g
		}
		if id := lookup(n, "id"); id != nil && len(imported) > 0 {
			r.unknown(id, imported)
			return group{{}}
		}
	}
	g := group{r.source(n)}
	back := lookup(n, "fallback")
	if back == nil || g[0].Type == TypeJournal {
		return g
	}
	o := objectOf("source")
	f := &o.Fields[slices.IndexFunc(o.Fields, func(f field) bool { return f.Key == "fallback" })]
	g[0].Origins["fallback"] = r.origin(back)
	items, _ := r.items(back, f)
	for i, c := range items {
		s := r.source(c)
		s.Fallback = i + 1
		if lookup(c, "fallback") != nil {
			r.bad(lookup(c, "fallback"), "a fallback has no fallbacks; list them one after the other")
		}
		if s.Type == TypeJournal {
			r.bad(c, "the journal cannot be a fallback")
		}
		for key, inherit := range map[string]func(){
			"phase":      func() { s.Phase = g[0].Phase },
			"priority":   func() { s.Priority = g[0].Priority },
			"on_missing": func() { s.OnMissing = g[0].OnMissing },
		} {
			if lookup(c, key) == nil {
				inherit()
			}
		}
		g = append(g, s)
	}
	return g
}

// unknown reports that a source without a type changes one that no import brought.
func (r *reader) unknown(id *yaml.Node, imported []group) {
	var ids []string
	for _, g := range imported {
		if key := g.key(); key != "" {
			ids = append(ids, key)
		}
	}
	r.bad(id, "no imported source has the id %.60q;%s they have: %s; a source of its own needs a type", follow(id).Value,
		didYouMean(follow(id).Value, ids), strings.Join(ids, ", "))
}

// source reads one source.
func (r *reader) source(n *yaml.Node) Source {
	r.origins = map[string]Origin{}
	s := Source{Origin: r.origin(n), Origins: r.origins}
	r.object(n, "source", &s, "", false)
	return s
}

// tuned reads a source without a type: changes of an imported one. It gives nil where there is none.
// What it does is still what the imported recipe wrote, and its origin says so.
func (r *reader) tuned(n *yaml.Node, imported []group) group {
	id := lookup(n, "id")
	if id == nil {
		return nil
	}
	i := slices.IndexFunc(imported, func(g group) bool { return g.key() == follow(id).Value })
	if i < 0 {
		return nil
	}
	g := slices.Clone(imported[i])
	g[0].Origins = maps.Clone(g[0].Origins)
	r.origins = g[0].Origins
	before := g[0].ID
	r.object(n, "source", &g[0], "", true)
	if g[0].ID = before; before == "" {
		delete(g[0].Origins, "id")
	} else if at := r.origin(id); at != (Origin{}) {
		g[0].Origins["id"] = at
	}
	return g
}
