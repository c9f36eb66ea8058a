package recipe

import (
	"fmt"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// templateText is a string of a recipe that may contain variables.
type templateText struct {
	Text   string
	Origin Origin
}

// Undefined returns a problem for each string of r with a variable that neither r nor env, the
// content of context/env, defines.
func (r *Recipe) Undefined(env []byte) (problems Problems) {
	defined := map[string]bool{}
	for _, name := range builtinVars {
		defined[name] = true
	}
	for _, v := range r.Env {
		defined[v.Name] = true
	}
	list, _ := ctxabi.ParseEnv(env) // a line that is none was refused when it was written
	for _, v := range list {
		defined[v.Name] = true
	}

	for _, t := range r.templates() {
		if _, err := Expand(t.Text, func(name string) (string, bool) { return "", defined[name] }); err != nil {
			problems = append(problems, Problem{Origin: t.Origin, Text: err.Error()})
		}
	}
	return problems
}

// templates lists all strings of r in which variables may stand.
func (r *Recipe) templates() (all []templateText) {
	add := func(text string, origins map[string]Origin, key string) {
		if text != "" {
			all = append(all, templateText{text, origins[key]})
		}
	}
	words := func(g *Generator, origins map[string]Origin, key string) {
		for i, w := range g.Command {
			add(w, origins, fmt.Sprintf("%s.command[%d]", key, i))
		}
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		if s.Type == TypeFile { // those of built-ins were not written by anybody
			add(s.Path, s.Origins, "path")
		}
		for j := range s.Stages {
			st := &s.Stages[j]
			generator, output := "generator", "output_path"
			if s.Type == TypePipeline {
				generator, output = fmt.Sprintf("stages[%d].generator", j), fmt.Sprintf("stages[%d].output", j)
			}
			words(&st.Generator, s.Origins, generator)
			add(st.Output, s.Origins, output)
		}
		if s.Condition != nil {
			s.Condition.each("condition", func(key string, c *Condition) { add(c.Path, s.Origins, key+".path") })
		}
	}
	for _, t := range r.Strategies {
		for j := range t.Sections {
			add(t.Sections[j].Path, t.Origins, fmt.Sprintf("sections[%d].path", j))
		}
	}
	if r.Summarizer != nil {
		words(r.Summarizer, r.Origins, "summarizer")
		add(r.Summarizer.OpenAI, r.Origins, "summarizer.openai")
		add(r.Summarizer.Model, r.Origins, "summarizer.model")
	}
	return all
}
