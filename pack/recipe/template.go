package recipe

import "fmt"

// Template is one string of a recipe that may contain variables.
type Template struct {
	Source   int    // index in Sources, -1 for one of a strategy or the summarizer
	Strategy string // name of the strategy, or ""
	Text     string
	Origin   Origin
}

// Templates lists all strings in which variables may stand, so that one that is not
// defined can be reported where it was written.
func (r *Recipe) Templates() (all []Template) {
	add := func(source int, strategy, text string, origins map[string]Origin, key string) {
		if text != "" {
			all = append(all, Template{source, strategy, text, origins[key]})
		}
	}
	words := func(source int, g *Generator, origins map[string]Origin, key string) {
		for i, w := range g.Command {
			add(source, "", w, origins, fmt.Sprintf("%s.command[%d]", key, i))
		}
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		if s.Type == TypeFile { // those of built-ins were not written by anybody
			add(i, "", s.Path, s.Origins, "path")
		}
		for j := range s.Stages {
			st := &s.Stages[j]
			generator, output := "generator", "output_path"
			if s.Type == TypePipeline {
				generator, output = fmt.Sprintf("stages[%d].generator", j), fmt.Sprintf("stages[%d].output", j)
			}
			words(i, &st.Generator, s.Origins, generator)
			add(i, "", st.Output, s.Origins, output)
		}
		if s.Condition != nil {
			s.Condition.each("condition", func(key string, c *Condition) { add(i, "", c.Path, s.Origins, key+".path") })
		}
	}
	for _, t := range r.Strategies {
		for j := range t.Sections {
			add(-1, t.Name, t.Sections[j].Path, t.Origins, fmt.Sprintf("sections[%d].path", j))
		}
	}
	if r.Summarizer != nil {
		words(-1, r.Summarizer, r.Origins, "summarizer")
		add(-1, "", r.Summarizer.OpenAI, r.Origins, "summarizer.openai")
		add(-1, "", r.Summarizer.Model, r.Origins, "summarizer.model")
	}
	return all
}
