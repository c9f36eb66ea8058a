package recipe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// finish makes the recipe flat and fills in what depends on all of it.
func (l *loader) finish() {
	r := l.out
	journal := slices.IndexFunc(l.groups, func(g group) bool { return g[0].Type == TypeJournal })
	for i, g := range l.groups {
		if slices.ContainsFunc(g, func(s Source) bool { return s.Type == "" }) {
			return // it may be the journal, and without it no phase is known
		}
		for j := range g {
			g[j].place(&g[0], journal >= 0 && i > journal)
		}
		r.Sources = append(r.Sources, g...)
	}
	if len(r.Sources) == 0 && len(l.problems) > 0 {
		return
	}
	if len(r.Sources) == 0 {
		l.add(Problem{Origin: Origin{r.Name, 1, 1}, Text: `a recipe needs "sources"`})
		return
	}
	if len(r.Sources) > maxSources {
		l.add(Problem{Origin: Origin{r.Name, 1, 1}, Text: fmt.Sprintf("%d sources; at most %d are allowed", len(r.Sources), maxSources)})
		return
	}
	l.ids()
	l.states()
	l.strategy()
	if len(l.problems) == 0 {
		l.blocks()
		r.Hash = r.hash()
	}
}

// strategy checks that the strategy that is named is there.
func (l *loader) strategy() {
	r := l.out
	if s := r.Strategy; s != "" && !l.lacking && !slices.ContainsFunc(r.Strategies, func(t Strategy) bool { return t.Name == s }) {
		var names []string
		for _, t := range r.Strategies {
			names = append(names, t.Name)
		}
		l.add(Problem{Origin: r.Origins["strategy"], Text: fmt.Sprintf("strategy is %.60q;%s allowed: %s", s, didYouMean(s, names), strings.Join(names, ", "))})
	}
}

// place returns a source its phase and, where it is built in, its path.
func (s *Source) place(head *Source, afterJournal bool) {
	i := slices.IndexFunc(types, func(t typeInfo) bool { return t.Type == s.Type })
	if types[i].Path != "" {
		s.Path = types[i].Path
	}
	switch {
	case s.Type == TypeJournal || s.Phase != "":
	case s.Fallback > 0:
		s.Phase = head.Phase
	case types[i].Phase != "":
		s.Phase = types[i].Phase
	case afterJournal:
		s.Phase = Dynamic
	default:
		s.Phase = Session
	}
}

// ids refuses an id that stands in two files; twice in one was found when that was read.
func (l *loader) ids() {
	taken := map[string]Origin{}
	for i := range l.out.Sources {
		s := &l.out.Sources[i]
		if s.ID == "" {
			continue
		}
		at := s.Origins["id"]
		if first, dup := taken[s.ID]; dup && !l.said(at) {
			l.add(Problem{Origin: at, Text: fmt.Sprintf("duplicate id %q; it is in %s:%d already", s.ID, first.File, first.Line)})
		}
		taken[s.ID] = at
	}
}

// blocks returns every source the id of its block. Ids that were written come
// first; where another name is taken already, it is given a number.
func (l *loader) blocks() {
	taken := map[string]Origin{}
	for i := range l.out.Sources {
		if s := &l.out.Sources[i]; s.ID != "" {
			taken[s.ID], s.Block = s.Origins["id"], s.ID
		}
	}
	head := ""
	for i := range l.out.Sources {
		s := &l.out.Sources[i]
		switch {
		case s.Block != "":
		case s.Fallback > 0:
			s.Block = head
		default:
			name := s.name()
			s.Block = fmt.Sprintf(name, "")
			for n := 2; ; n++ {
				if _, dup := taken[s.Block]; !dup {
					break
				}
				s.Block = fmt.Sprintf(name, fmt.Sprintf(" %d", n))
			}
			taken[s.Block] = s.Origin
		}
		if s.Fallback == 0 {
			head = s.Block
		}
	}
}

// name is the format of the block's id of a source without id; its one argument is a number.
func (s *Source) name() string {
	of := ""
	switch {
	case s.Type == TypeFile:
		of = path.Base(s.Path)
	case s.Type.Computed():
		last := s.Stages[len(s.Stages)-1]
		if of = path.Base(last.Output); last.Output == "" {
			of = path.Base(last.Command[0])
		}
	default:
		return string(s.Type) + "%s"
	}
	of = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, of)
	return string(s.Type) + " (" + strings.ReplaceAll(of, "%", "%%") + "%s)"
}

// states refuses state_is before the journal: the state changes without the history.
func (l *loader) states() {
	for i := range l.out.Sources {
		s := &l.out.Sources[i]
		if s.Phase == Dynamic || s.Condition == nil {
			continue
		}
		s.Condition.each("condition", func(key string, c *Condition) {
			if c.When == StateIs {
				l.add(Problem{Origin: s.Origins[key+".when"], Text: "state_is before the journal would change the prefix with each change of the state; use it in a source after the journal"})
			}
		})
	}
}

// each calls f for a condition and those inside of it, with their keys.
func (c *Condition) each(key string, f func(key string, c *Condition)) {
	f(key, c)
	for i := range c.All {
		c.All[i].each(fmt.Sprintf("%s.all[%d]", key, i), f)
	}
	for i := range c.Any {
		c.Any[i].each(fmt.Sprintf("%s.any[%d]", key, i), f)
	}
	if c.Not != nil {
		c.Not.each(key+".not", f)
	}
}

// hash is the SHA-256 of all of the recipe that decides what a pack is.
func (r *Recipe) hash() string {
	h := *r
	h.Name, h.Files, h.Origins, h.Hash = "", nil, nil, ""
	h.Sources, h.Strategies = slices.Clone(r.Sources), slices.Clone(r.Strategies)
	if h.SummaryRequest == AskAuto {
		h.SummaryRequest = "" // the default keeps the hash of recipes that predate the key
	}
	for i := range h.Sources {
		h.Sources[i].Origin, h.Sources[i].Origins = Origin{}, nil
	}
	for i := range h.Strategies {
		h.Strategies[i].Origin, h.Strategies[i].Origins = Origin{}, nil
	}
	data, err := json.Marshal(&h)
	if err != nil {
		panic("recipe: it has no JSON: " + err.Error()) // plain data always has
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
