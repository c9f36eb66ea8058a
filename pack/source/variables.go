package source

import (
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// Variables is what the variables of a session's recipe mean.
type Variables struct {
	Env  map[string]string // of the recipe and of context/env
	Cwd  string            // "": the session has none
	Home string            // the agent's home in the mount
	Rel  string            // the session's directory in that
}

// newLexicon reads context/env over the recipe's env.
func newLexicon(r *recipe.Recipe, env []byte, cwd, home, rel string) *Variables {
	x := &Variables{Env: map[string]string{}, Cwd: cwd, Home: home, Rel: rel}
	for _, v := range r.Env {
		x.Env[v.Name] = v.Value
	}
	list, _ := ctxabi.ParseEnv(env) // a line that is none was refused when it was written
	for _, v := range list {
		x.Env[v.Name] = v.Value
	}
	return x
}

// value is what a variable means to a command: a place in the mount.
func (x *Variables) value(o recipe.Origin) func(string) (string, bool) {
	return func(name string) (string, bool) {
		switch name {
		case recipe.VarAgentHome:
			return x.Home, true
		case recipe.VarCWD:
			return x.Cwd, true
		case recipe.VarSession:
			return path.Join(x.Home, x.Rel), true
		case recipe.VarRecipeDir:
			return path.Join(x.Home, path.Dir(o.File)), true
		}
		v, ok := x.Env[name]
		return v, ok
	}
}

// Expand returns a text of the recipe as commands see it. Variables without a value were a problem of the recipe before.
func (x *Variables) Expand(text string, o recipe.Origin) string {
	out, err := recipe.Expand(text, x.value(o))
	if err != nil {
		return text
	}
	return out
}

// location is where a path of a recipe leads: into the agent's home, or outside of the store.
type location struct {
	inHome bool
	rel    string // within the home
	path   string // outside: absolute, as the session's owner calls it; "": cwd is needed and there is none
}

// locate returns where text, a path of a recipe, leads.
func (x *Variables) locate(text string, o recipe.Origin) location {
	for name, base := range map[string]string{recipe.VarAgentHome: ".", recipe.VarSession: x.Rel, recipe.VarRecipeDir: path.Dir(o.File)} {
		rest, ok := strings.CutPrefix(text, "${"+name+"}")
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		rest = x.Expand(rest, o)
		return location{inHome: true, rel: path.Join(base, "./"+rest)}
	}
	if strings.Contains(text, "${"+recipe.VarCWD+"}") && x.Cwd == "" {
		return location{}
	}
	text = x.Expand(text, o)
	if !path.IsAbs(text) {
		if x.Cwd == "" {
			return location{}
		}
		text = path.Join(x.Cwd, text)
	}
	return location{path: path.Clean(text)}
}
