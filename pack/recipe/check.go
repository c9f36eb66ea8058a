package recipe

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
)

// lowShare is low as a share of high where only high is given.
const lowShare = 0.82

// check looks at what concerns several keys of one mapping.
func (r *reader) check(n *yaml.Node, name string, v any, get func(string) *yaml.Node) {
	switch name {
	case "history":
		if h := v.(*History); h.Low >= h.High {
			at := get("low")
			if at == nil { // only high is given: low keeps its distance
				h.Low = math.Round(h.High*lowShare*1000) / 1000
				return
			}
			r.bad(at, "low is %v, but it must be below high, which is %v", h.Low, h.High)
		}
	case "condition":
		r.oneOf(n, "a condition", get, "when", "all", "any", "not")
	case "summarizer":
		r.summarizer(n, v.(*Generator), get)
	case "section":
		r.oneOf(n, "a section", get, "from", "path", "text")
		r.title(get("name"), "name", v.(*Section).Name)
	case "source":
		r.title(get("id"), "id", v.(*Source).ID)
	case "strategy":
		seen := map[string]bool{}
		for i, s := range v.(*Strategy).Sections {
			if s.Name != "" && seen[s.Name] {
				r.bad(follow(get("sections")).Content[i], "two sections are called %q", s.Name)
			}
			seen[s.Name] = true
		}
	}
}

// apiTimeout is the default timeout of a summarizer with an API.
const apiTimeout = 5 * time.Minute

// summarizer reports a problem unless a summarizer has either a command or an API with a model. It
// sets the default timeout of an API.
func (r *reader) summarizer(n *yaml.Node, g *Generator, get func(string) *yaml.Node) {
	r.oneOf(n, "a summarizer", get, "command", "openai")
	for _, key := range []string{"model", "api_key_env"} {
		if at := get(key); at != nil && get("openai") == nil {
			r.bad(at, "%s belongs to openai, which the summarizer does not have", key)
		}
	}
	if get("openai") == nil {
		return
	}

	if g.Model == "" {
		r.bad(n, `a summarizer with "openai" needs "model"`)
	}
	if at := get("api_key_env"); at != nil && !variableName().MatchString(g.KeyEnv) {
		r.bad(at, "api_key_env is not the name of a variable; write the name, not the key")
	}
	if get("timeout_ms") == nil {
		g.Timeout = apiTimeout
	}
}

// oneOf adds a problem when not exactly one of the keys stands in a mapping.
func (r *reader) oneOf(n *yaml.Node, is string, get func(string) *yaml.Node, keys ...string) {
	var have []string
	for _, k := range keys {
		if get(k) != nil {
			have = append(have, k)
		}
	}
	switch len(have) {
	case 0:
		r.bad(n, "%s needs one of %s", is, strings.Join(keys, ", "))
	case 1:
	default:
		r.bad(n, "%s has %s, but only one of them is allowed", is, strings.Join(have, " and "))
	}
}

const maxTitle = 128

// title checks a string that becomes a heading.
func (r *reader) title(n *yaml.Node, key, s string) {
	switch {
	case n == nil || s == "":
	case len(s) > maxTitle:
		r.bad(n, "%s has %d bytes; at most %d are allowed", key, len(s), maxTitle)
	case strings.TrimSpace(s) != s || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }):
		r.bad(n, "%s is %.60q; it must be one line without blanks around it", key, s)
	}
}

// few reports whether a mapping from names has no more of them than a recipe may have.
func (r *reader) few(n *yaml.Node, key string, ps []pair) bool {
	if len(ps) > maxSources {
		r.bad(n, "%s has %d entries; at most %d are allowed", key, len(ps), maxSources)
		return false
	}
	return true
}

// variables reads env over what an import says.
func (r *reader) variables(n *yaml.Node, to *[]Variable, key string) {
	ps, ok := r.pairs(n, key)
	if !ok || !r.few(n, key, ps) {
		return
	}
	for _, p := range ps {
		name, v := p.key.Value, follow(p.value)
		switch {
		case !variableName().MatchString(name):
			r.bad(p.key, "%.60q is not the name of a variable; a name has letters, digits and _", name)
			continue
		case slices.Contains(builtinVars, name):
			r.bad(p.key, "ctxfs sets %s itself; choose another name", name)
			continue
		case v.Kind != yaml.ScalarNode || v.ShortTag() == "!!null":
			r.bad(p.value, "%s must be a string, it is %s", name, what(p.value))
			continue
		case strings.ContainsRune(v.Value, 0):
			r.bad(p.value, "%s contains a NUL character", name)
			continue
		}
		r.origins[key+"."+name] = r.origin(p.value)
		i, found := slices.BinarySearchFunc(*to, name, func(v Variable, name string) int { return strings.Compare(v.Name, name) })
		if !found {
			*to = slices.Insert(*to, i, Variable{})
		}
		(*to)[i] = Variable{name, v.Value}
	}
}

// strategies reads strategies, each in the place of one of the same name.
func (r *reader) strategies(n *yaml.Node, to *[]Strategy) {
	ps, ok := r.pairs(n, "strategies")
	if !ok || !r.few(n, "strategies", ps) {
		return
	}
	for _, p := range ps {
		r.title(p.key, "the name of a strategy", p.key.Value)
		if p.key.Value == "" {
			r.bad(p.key, "the name of a strategy is empty")
			continue
		}
		outer := r.origins
		r.origins = map[string]Origin{}
		s := Strategy{Name: p.key.Value, Origin: r.origin(p.key), Origins: r.origins}
		r.object(p.value, "strategy", &s, "", false)
		r.origins = outer
		i, found := slices.BinarySearchFunc(*to, s.Name, func(s Strategy, name string) int { return strings.Compare(s.Name, name) })
		if !found {
			*to = slices.Insert(*to, i, Strategy{})
		}
		(*to)[i] = s
	}
}
