package recipe

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Read returns the content of a file by its path relative to the agent's home; fs.ErrNotExist when it is not there.
type Read func(path string) ([]byte, error)

// Bounds of a recipe with all that it imports.
const (
	maxFiles    = 64
	maxSources  = 1000 // with fallbacks; also variables, strategies
	maxProblems = 100
)

//go:embed default.yaml
var defaultYAML []byte

//go:embed strategies.yaml
var strategiesYAML []byte

// Load reads the recipe at entry, a path relative to the agent's home, and all
// that it imports. Its error is Problems, which wrap the errors of read.
func Load(entry string, read Read) (*Recipe, error) {
	l := &loader{read: read, out: blank()}
	entry = path.Clean(entry)
	l.out.Name = entry
	data, err := read(entry)
	if err != nil {
		return nil, Problems{{Origin: Origin{entry, 1, 1}, Text: fmt.Sprintf("it cannot be read: %v", err), err: err}}
	}
	l.file(File{Path: entry}, data)
	l.finish()
	if len(l.problems) > 0 {
		return nil, l.sorted()
	}
	return l.out, nil
}

// Default is the recipe of a session that has none. It is shared and must not be changed.
func Default() *Recipe { return defaultRecipe() }

// DefaultYAML is what [Default] was read from: short, for people to start from.
func DefaultYAML() []byte { return slices.Clone(defaultYAML) }

var defaultRecipe = sync.OnceValue(func() *Recipe {
	l := &loader{out: blank()}
	l.out.Name = "default"
	l.builtin(defaultYAML)
	l.finish()
	l.must()
	return l.out
})

// blank is a recipe that says nothing yet: defaults and built-in strategies.
func blank() *Recipe {
	l := &loader{out: &Recipe{TotalMaxTokens: -1, Origins: map[string]Origin{}}}
	r := &reader{l: l, origins: map[string]Origin{}}
	r.defaults(objectOf("recipe"), l.out, "")
	l.builtin(strategiesYAML)
	l.must()
	delete(l.out.Origins, "strategies")
	return l.out
}

// loader reads files into one recipe, imports first.
type loader struct {
	read     Read
	out      *Recipe
	groups   []group
	stack    []string // files that are being read, each imported by the one before it
	lacking  bool     // a file could not be read: what it defines is not known
	problems Problems
}

// group is a source with its fallbacks.
type group []Source

// key is what a source of a recipe that imports replaces: the same id, or, without
// ids, the same built-in; there is one journal whatever it is called.
func (g group) key() string {
	s := &g[0]
	switch {
	case s.Type == TypeJournal:
		return string(TypeJournal)
	case s.ID != "":
		return s.ID
	case s.Type == TypeFile || s.Type.Computed():
		return ""
	}
	return string(s.Type)
}

// unnamed is the index of the imported source that g replaces, which has no id: the one of its type with the same path or output, or, of
// a command, the only one of its type where g is the only one in its recipe. -1: it replaces none.
func unnamed(g group, own, imported []group) int {
	alike := func(h group) bool { return h[0].Type == g[0].Type }
	if i := slices.IndexFunc(imported, func(h group) bool { return alike(h) && g[0].target() != "" && h[0].target() == g[0].target() }); i >= 0 {
		return i
	}
	if !g[0].Type.Computed() {
		return -1
	}
	count := func(groups []group) (n, last int) {
		for i, h := range groups {
			if alike(h) && !slices.ContainsFunc(own, func(o group) bool { return o[0].ID != "" && o[0].ID == h[0].ID }) {
				n, last = n+1, i
			}
		}
		return n, last
	}
	if n, _ := count(slices.DeleteFunc(slices.Clone(own), func(o group) bool { return o[0].ID != "" })); n != 1 {
		return -1
	}
	if n, i := count(imported); n == 1 {
		return i
	}
	return -1
}

// target is the file that a source shows: its path, or what its last command writes; "" where there is none.
func (s *Source) target() string {
	if s.Type.Computed() && len(s.Stages) > 0 {
		return s.Stages[len(s.Stages)-1].Output
	}
	return s.Path
}

// must panics when what is built in is wrong.
func (l *loader) must() {
	if len(l.problems) > 0 {
		panic("recipe: built in: " + l.problems.Error())
	}
}

// sorted returns the problems in the order of files and lines.
func (l *loader) sorted() Problems {
	order := func(p Problem) int {
		return slices.IndexFunc(l.out.Files, func(f File) bool { return f.Path == p.File })
	}
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l.problems
}

// builtin reads what is compiled in.
func (l *loader) builtin(data []byte) {
	root, problem := parse("", data)
	if problem != nil {
		l.add(*problem)
		return
	}
	l.recipe(&reader{l: l, origins: l.out.Origins}, root)
}

// file reads one file and, before it, what it imports.
func (l *loader) file(f File, data []byte) {
	sum := sha256.Sum256(data)
	f.SHA256 = hex.EncodeToString(sum[:])
	l.out.Files = append(l.out.Files, f)
	root, problem := parse(f.Path, data)
	if problem != nil {
		l.lacking = true
		l.add(*problem)
		return
	}
	r := &reader{l: l, file: f.Path, origins: l.out.Origins}
	l.stack = append(l.stack, f.Path)
	l.imports(r, f, root)
	l.stack = l.stack[:len(l.stack)-1]
	l.recipe(r, root)
}

// recipe reads the keys of a file over what its imports said.
func (l *loader) recipe(r *reader, root *yaml.Node) {
	before := len(l.groups)
	r.object(root, "recipe", l.out, "", true)
	var own []group
	if n := lookup(root, "sources"); n != nil {
		l.out.Origins["sources"] = r.origin(n)
		own = r.sources(n, l.groups)
	}
	for _, g := range own {
		key := g.key()
		i := -1
		if key != "" {
			i = slices.IndexFunc(l.groups[:before], func(h group) bool { return h.key() == key })
		} else {
			i = unnamed(g, own, l.groups[:before])
		}
		if i >= 0 {
			if id := l.groups[i][0].ID; key == "" && id != "" { // the block keeps its name
				g[0].ID, g[0].Origins["id"] = id, g[0].Origin
			}
			l.groups[i] = g
		} else {
			l.groups = append(l.groups, g)
		}
	}
}

// lookup returns the value of a key of a mapping, those of merged ones behind its own, or nil.
func lookup(n *yaml.Node, key string) *yaml.Node {
	if n = follow(n); n.Kind != yaml.MappingNode {
		return nil
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch k, v := n.Content[i], n.Content[i+1]; {
		case isMerge(k):
			merged = append(merged, mergedBy(v)...)
		case follow(k).Value == key:
			return v
		}
	}
	for _, m := range merged {
		if v := lookup(m, key); v != nil {
			return v
		}
	}
	return nil
}

// imports reads what a file imports, in order.
func (l *loader) imports(r *reader, f File, root *yaml.Node) {
	n := lookup(root, "import")
	if n == nil {
		return
	}
	o := objectOf("recipe")
	i := slices.IndexFunc(o.Fields, func(f field) bool { return f.Key == "import" })
	items := []*yaml.Node{n}
	if follow(n).Kind != yaml.ScalarNode {
		var ok bool
		if items, ok = r.items(n, &o.Fields[i]); !ok {
			return
		}
	}
	for _, c := range items {
		var what string
		if r.text(c, &o.Fields[i], &what) {
			l.importOne(r, f, c, what)
		}
	}
}

func (l *loader) importOne(r *reader, f File, n *yaml.Node, what string) {
	places, pkg, why := candidates(f, what)
	if why != "" {
		l.lacking = true
		r.bad(n, "import %.80q: %s", what, why)
		return
	}
	for _, p := range places {
		if i := slices.Index(l.stack, p); i >= 0 {
			r.bad(n, "import cycle: %s", strings.Join(append(slices.Clone(l.stack[i:]), p), " -> "))
			return
		}
		if slices.ContainsFunc(l.out.Files, func(f File) bool { return f.Path == p }) {
			return // its sources are there already
		}
		data, err := l.read(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			l.lacking = true
			l.add(Problem{Origin: r.origin(n), Text: fmt.Sprintf("import %.80q: %s cannot be read: %v", what, p, err), err: err})
			return
		case len(l.out.Files) == maxFiles:
			r.bad(n, "import %.80q: a recipe is made from at most %d files", what, maxFiles)
			return
		}
		l.file(File{Path: p, Imported: true, Package: pkg}, data)
		return
	}
	hint := ""
	if beside := path.Join(path.Dir(f.Path), what+".yaml"); len(places) > 1 && !strings.HasPrefix(beside, "..") {
		if _, err := l.read(beside); err == nil {
			hint = fmt.Sprintf("; did you mean \"./%s.yaml\"?", what)
		}
	}
	l.lacking = true
	r.bad(n, "import %.80q: not found; looked for %s in the agent's home%s", what, strings.Join(places, " and "), hint)
}

// candidates returns the paths at which an import may be, in order.
func candidates(f File, what string) (places []string, pkg, why string) {
	local := strings.HasPrefix(what, "./") || strings.HasPrefix(what, "../") || strings.HasSuffix(what, ".yaml") || strings.HasSuffix(what, ".yml")
	switch {
	case strings.Contains(what, "://"):
		return nil, "", "ctxfs downloads nothing; install it here (npm install, cp) and import it by its path or name"
	case strings.HasPrefix(what, "/"):
		return nil, "", "an absolute path; write one that is relative to this file, or the name of a package"
	case local:
		p := path.Join(path.Dir(f.Path), what)
		if p == ".." || strings.HasPrefix(p, "../") {
			return nil, "", "it is outside of the agent's home"
		}
		if f.Package != "" && (strings.HasPrefix(p, "node_modules/"+f.Package+"/") || strings.HasPrefix(p, "packages/"+f.Package+"/")) {
			pkg = f.Package
		}
		return []string{p}, pkg, ""
	case !packageName().MatchString(what):
		return nil, "", "neither a path (./base.yaml) nor the name of a package (name or @scope/name)"
	}
	return []string{"node_modules/" + what + "/context.yaml", "packages/" + what + "/context.yaml"}, what, ""
}

// packageName is a name as npm has them.
var packageName = lazy.Regexp(`^(@[A-Za-z0-9~-][A-Za-z0-9._~-]{0,199}/)?[A-Za-z0-9~-][A-Za-z0-9._~-]{0,199}$`)
