package recipe

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// reader turns the nodes of one file into Go values as the table says, and
// notes what is wrong with them.
type reader struct {
	l       *loader
	file    string            // "" for what is built in
	origins map[string]Origin // of what is being read
}

func (r *reader) origin(n *yaml.Node) Origin {
	if r.file == "" {
		return Origin{}
	}
	return Origin{r.file, n.Line, n.Column}
}

func (r *reader) bad(n *yaml.Node, format string, args ...any) {
	r.l.add(Problem{Origin: Origin{r.file, n.Line, n.Column}, Text: fmt.Sprintf(format, args...)})
}

// mark notes where the value of a key was written, and forgets what it held before.
func (r *reader) mark(key string, n *yaml.Node) {
	for k := range r.origins {
		if strings.HasPrefix(k, key) && len(k) > len(key) && (k[len(key)] == '.' || k[len(key)] == '[') {
			delete(r.origins, k)
		}
	}
	r.origins[key] = r.origin(n)
}

// pairs returns the keys of a mapping, those of merged ones (<<) behind its own.
func (r *reader) pairs(n *yaml.Node, is string) (ps []pair, ok bool) {
	if follow(n).Kind != yaml.MappingNode {
		r.bad(n, "%s must be a mapping, it is %s%s", is, what(n), instead(n))
		return nil, false
	}
	n = follow(n)
	seen := map[string]*yaml.Node{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := follow(k)
		switch {
		case isMerge(k):
			merged = append(merged, mergedBy(v)...)
		case name.Kind != yaml.ScalarNode:
			r.bad(k, "a key of %s must be a string, it is %s", is, what(k))
		case seen[name.Value] != nil:
			r.bad(k, "duplicate key %q; it is in line %d already", name.Value, seen[name.Value].Line)
		default:
			seen[name.Value] = k
			ps = append(ps, pair{name, v})
			ps[len(ps)-1].key = &yaml.Node{Kind: yaml.ScalarNode, Value: name.Value, Line: k.Line, Column: k.Column}
		}
	}
	for _, m := range merged {
		more, _ := r.pairs(m, "what << merges")
		for _, p := range more {
			if seen[p.key.Value] == nil {
				seen[p.key.Value] = p.key
				ps = append(ps, p)
			}
		}
	}
	return ps, true
}

// object reads a mapping into v. In a patch v holds values already, nothing is
// required, and only what tunes may be changed.
func (r *reader) object(n *yaml.Node, name string, v any, prefix string, patch bool) {
	o := objectOf(name)
	ps, ok := r.pairs(n, o.Is)
	if !ok {
		return
	}
	get := func(key string) *yaml.Node {
		for _, p := range ps {
			if p.key.Value == key {
				return p.value
			}
		}
		return nil
	}
	q := o.variety(get, v, patch)
	if !patch {
		r.defaults(o, v, q.tag)
	}
	for _, p := range ps {
		if f, why := q.field(p.key.Value); why != "" {
			r.bad(p.key, "%s", why)
		} else {
			r.field(p.value, f, v, prefix)
		}
	}
	r.required(n, q, get)
	r.check(n, name, v, get)
}

// variety is what a mapping of an object is by its tag.
type variety struct {
	*object
	tag   string
	known bool   // the tag has a value that it may have, or is left out where it may be
	is    string // in a sentence: "a file source"
	patch bool   // it changes values that are there
}

// variety returns that of a mapping whose values get finds; in a patch of v without a tag it is that of v.
func (o *object) variety(get func(string) *yaml.Node, v any, patch bool) variety {
	q := variety{object: o, known: true, is: o.Is, patch: patch}
	if o.Tag == "" {
		return q
	}
	tag := &o.Fields[0]
	if t := get(o.Tag); t != nil {
		q.tag = follow(t).Value
		q.known = follow(t).Kind == yaml.ScalarNode && slices.Contains(tag.Enum, q.tag)
	} else if patch {
		q.tag = string(v.(*Source).Type)
	} else {
		q.known = !tag.Must
	}
	if q.known && q.tag != "" {
		q.is = "a " + q.tag + strings.TrimPrefix(o.Is, "a")
	}
	return q
}

// field returns the field with that key, or why the mapping may not have it.
func (q variety) field(key string) (f *field, why string) {
	i := slices.IndexFunc(q.Fields, func(f field) bool { return f.Key == key })
	if i < 0 {
		keys := keysOf(q.object, q.tag, q.known, false)
		return nil, fmt.Sprintf("unknown key %q of %s;%s allowed: %s", key, q.is, didYouMean(key, keys), strings.Join(keys, ", "))
	}
	f = &q.Fields[i]
	switch {
	case q.known && !f.allows(q.tag):
		return nil, fmt.Sprintf("%q is not a key of %s; allowed: %s", key, q.is, strings.Join(keysOf(q.object, q.tag, q.known, false), ", "))
	case q.patch && q.Name == "source" && !f.Tunes && key != "id":
		return nil, fmt.Sprintf("%q cannot be changed in an imported source; give the source a type to replace it, or change: %s",
			key, strings.Join(keysOf(q.object, q.tag, q.known, true), ", "))
	}
	return f, ""
}

// required reports the keys that the mapping n must have and get does not find.
func (r *reader) required(n *yaml.Node, q variety, get func(string) *yaml.Node) {
	if !q.known {
		if get(q.Tag) == nil {
			r.bad(n, "%s needs %q; allowed: %s", q.is, q.Tag, strings.Join(q.Fields[0].Enum, ", "))
		}
		return
	}
	if q.patch {
		return
	}
	for i := range q.Fields {
		if f := &q.Fields[i]; f.Must && f.allows(q.tag) && get(f.Key) == nil {
			more := ""
			if f.Enum != nil {
				more = "; allowed: " + strings.Join(f.Enum, ", ")
			}
			r.bad(n, "%s needs %q%s", q.is, f.Key, more)
		}
	}
}

// keysOf lists what a mapping may hold; all of its keys when its tag is not known.
func keysOf(o *object, tag string, known, tunes bool) (keys []string) {
	for i := range o.Fields {
		if f := &o.Fields[i]; (!known || f.allows(tag)) && (!tunes || f.Tunes) {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// defaults returns all fields of v that have one their default.
func (r *reader) defaults(o *object, v any, tag string) {
	for i := range o.Fields {
		f := &o.Fields[i]
		if f.Kind == mapping && f.at != nil {
			if h, ok := f.at(v).(*History); ok {
				r.defaults(objectOf(f.Of), h, "")
			}
			continue
		}
		if d := f.fallback(tag); d != "" && f.allows(tag) {
			quiet := reader{l: r.l, origins: map[string]Origin{}}
			quiet.value(&yaml.Node{Kind: yaml.ScalarNode, Value: d}, f, f.at(v), f.Key)
		}
	}
}

// field reads the value of one key into v.
func (r *reader) field(n *yaml.Node, f *field, v any, prefix string) {
	if f.at == nil {
		if f.Kind == version && !versions().MatchString(follow(n).Value) {
			r.bad(n, "version must be 1 or 1.x")
		}
		return
	}
	key := prefix + f.Key
	switch {
	case prefix != "":
		r.origins[key] = r.origin(n) // below a key that was marked
	case f.Of == "history" || f.Kind == variables: // which are read over those of an import
		r.origins[key] = r.origin(n)
	default:
		r.mark(key, n)
	}
	r.value(n, f, f.at(v), key)
}

var versions = lazy.Regexp(`^1(\.\d+){0,2}$`)

// value reads one value to where at points.
func (r *reader) value(n *yaml.Node, f *field, at any, key string) {
	switch f.Kind {
	case mapping:
		to := reflect.ValueOf(at)
		if to.Elem().Kind() == reflect.Pointer {
			fresh := reflect.New(to.Elem().Type().Elem())
			r.object(n, f.Of, fresh.Interface(), key+".", false)
			to.Elem().Set(fresh)
			return
		}
		if h, ok := at.(*History); ok { // key by key over what an import says
			r.object(n, f.Of, h, key+".", true)
			return
		}
		to.Elem().SetZero()
		r.object(n, f.Of, at, key+".", false)
	case runs:
		g := at.(*Generator)
		*g = Generator{}
		if follow(n).Kind == yaml.SequenceNode {
			o := objectOf(f.Of)
			r.defaults(o, g, "")
			i := slices.IndexFunc(o.Fields, func(f field) bool { return f.Kind == command })
			r.field(n, &o.Fields[i], g, key+".")
			return
		}
		if follow(n).Kind != yaml.MappingNode {
			r.bad(n, "%s must be a list of words or a mapping, it is %s; write [program, argument]", f.Key, what(n))
			return
		}
		r.object(n, f.Of, g, key+".", false)
	case mappings:
		items, ok := r.items(n, f)
		to := reflect.ValueOf(at).Elem()
		to.SetZero()
		if !ok {
			return
		}
		for i, c := range items {
			fresh := reflect.New(to.Type().Elem())
			r.object(c, f.Of, fresh.Interface(), fmt.Sprintf("%s[%d].", key, i), false)
			to.Set(reflect.Append(to, fresh.Elem()))
		}
	case named:
		r.strategies(n, at.(*[]Strategy))
	case variables:
		r.variables(n, at.(*[]Variable), key)
	case texts, oneOrMore, globs, command:
		to := at.(*[]string)
		*to = nil
		items := []*yaml.Node{n}
		if f.Kind != oneOrMore || follow(n).Kind != yaml.ScalarNode {
			var ok bool
			if items, ok = r.items(n, f); !ok {
				return
			}
		}
		for i, c := range items {
			var s string
			if r.text(c, f, &s) {
				*to = append(*to, s)
				r.origins[fmt.Sprintf("%s[%d]", key, i)] = r.origin(c)
			}
		}
		if f.Kind == command && len(*to) > 0 && (*to)[0] == "" && len(*to) == len(items) {
			r.bad(items[0], "the program's name is empty")
		}
	default:
		r.scalar(n, f, at)
	}
}
