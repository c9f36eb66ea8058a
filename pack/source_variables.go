package pack

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

// The variables that every recipe has.
const (
	varHome    = "AGENT_HOME"
	varCwd     = "CWD"
	varSession = "SESSION"
	varRecipe  = "RECIPE_DIR"
)

// expand replaces each ${NAME} in text by what value says and $$ by $. missing is
// the first name that has no value.
func expand(text string, value func(name string) (string, bool)) (out, missing string) {
	if !strings.Contains(text, "$") {
		return text, ""
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String(), missing
		}
		name, after, closed := strings.Cut(strings.TrimPrefix(rest, "{"), "}")
		switch {
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			text = rest[1:]
		case strings.HasPrefix(rest, "{") && closed:
			v, ok := value(name)
			if !ok {
				missing = cmp.Or(missing, name)
			}
			b.WriteString(v)
			text = after
		default:
			b.WriteByte('$')
			text = rest
		}
	}
}

// lexicon is what the variables of a session's recipe mean.
type lexicon struct {
	env   map[string]string // of the recipe and of context/env
	cwd   string            // "": the session has none
	home  string            // the agent's home in the mount
	rel   string            // the session's directory in that
	order []string          // names of env
}

// newLexicon reads context/env over the recipe's env.
func newLexicon(r *recipe.Recipe, env []byte, cwd, home, rel string) *lexicon {
	x := &lexicon{env: map[string]string{}, cwd: cwd, home: home, rel: rel}
	for _, v := range r.Env {
		x.env[v.Name] = v.Value
	}
	for line := range strings.Lines(string(env)) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") && isText(env) {
			x.env[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	for name := range x.env {
		x.order = append(x.order, name)
	}
	slices.Sort(x.order)
	return x
}

// value is what a variable means to a command: a place in the mount.
func (x *lexicon) value(o recipe.Origin) func(string) (string, bool) {
	return func(name string) (string, bool) {
		switch name {
		case varHome:
			return x.home, true
		case varCwd:
			return x.cwd, true
		case varSession:
			return path.Join(x.home, x.rel), true
		case varRecipe:
			return path.Join(x.home, path.Dir(o.File)), true
		}
		v, ok := x.env[name]
		return v, ok
	}
}

// location is where a path of a recipe leads: into the agent's home, or outside of the store.
type location struct {
	inHome bool
	rel    string // within the home
	path   string // outside: absolute, as the session's owner calls it; "": cwd is needed and there is none
}

// locate says where text, a path of a recipe, leads.
func (x *lexicon) locate(text string, o recipe.Origin) location {
	for name, base := range map[string]string{varHome: ".", varSession: x.rel, varRecipe: path.Dir(o.File)} {
		rest, ok := strings.CutPrefix(text, "${"+name+"}")
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		rest, _ = expand(rest, x.value(o))
		return location{inHome: true, rel: path.Join(base, "./"+rest)}
	}
	if strings.Contains(text, "${"+varCwd+"}") && x.cwd == "" {
		return location{}
	}
	text, _ = expand(text, x.value(o))
	if !path.IsAbs(text) {
		if x.cwd == "" {
			return location{}
		}
		text = path.Join(x.cwd, text)
	}
	return location{path: path.Clean(text)}
}

// undefined lists the variables of a recipe that have no value.
func (x *lexicon) undefined(r *recipe.Recipe) (problems recipe.Problems) {
	check := func(o recipe.Origin, texts ...string) {
		for _, text := range texts {
			if _, missing := expand(text, x.value(o)); missing != "" {
				problems = append(problems, recipe.Problem{Origin: o,
					Text: fmt.Sprintf("the variable ${%s} is not defined; define it in env: or in context/env, or write $${%s} for the text itself", missing, missing)})
			}
		}
	}
	var conditions func(o recipe.Origin, c *recipe.Condition)
	conditions = func(o recipe.Origin, c *recipe.Condition) {
		if c == nil {
			return
		}
		check(o, c.Path)
		for _, list := range [][]recipe.Condition{c.All, c.Any} {
			for i := range list {
				conditions(o, &list[i])
			}
		}
		conditions(o, c.Not)
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		check(s.Origin, s.Path)
		for _, st := range s.Stages {
			check(s.Origin, st.Command...)
			check(s.Origin, st.Output)
		}
		conditions(s.Origin, s.Condition)
	}
	for _, s := range r.Strategies {
		for _, sec := range s.Sections {
			check(s.Origin, sec.Path)
		}
	}
	if r.Summarizer != nil {
		check(recipe.Origin{File: r.Name}, r.Summarizer.Command...)
	}
	return problems
}
