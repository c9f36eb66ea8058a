package recipe

import (
	"os"
	"path/filepath"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// packages is what the recipes of testdata import.
var packages = home{
	"base.yaml": "sources:\n  - type: system_role\n  - {type: file, id: map, path: map.md}\n",
	"node_modules/@delta/context-react-dev/context.yaml": "sources:\n  - {type: file, id: react, path: \"${RECIPE_DIR}/react.md\"}\n  - type: journal\n",
	"packages/@team/context-react/context.yaml":          "sources:\n  - {type: file, id: react, path: \"${RECIPE_DIR}/react.md\"}\n",
}

// protocol returns the names of the recipes of testdata/protocol.
func protocol(t testing.TB) (h home, names []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/protocol/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	h = home{}
	for k, v := range packages {
		h[k] = v
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		h[filepath.Base(f)] = string(data)
		names = append(names, filepath.Base(f))
	}
	return h, names
}

func TestProtocolRecipesParse(t *testing.T) {
	h, names := protocol(t)
	for _, name := range names {
		if _, err := Load(name, h.read); err != nil {
			t.Errorf("%v", err)
		}
	}
}

// The effective recipes, without the built-in strategies.
func TestProtocolRecipesMeanWhatTheySay(t *testing.T) {
	h, names := protocol(t)
	for _, name := range names {
		r := *load(t, h, name)
		r.Strategies = nil
		compare(t, "testdata/protocol/"+name[:len(name)-len(".yaml")]+".want", r.YAML())
	}
	r := *Default()
	r.Strategies = nil
	compare(t, "testdata/default.want", r.YAML())
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

// shuffle changes the order of keys everywhere below n.
func shuffle(t *rapid.T, n *yaml.Node) {
	for _, c := range n.Content {
		shuffle(t, c)
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	order := make([]int, len(n.Content)/2)
	for i := range order {
		order[i] = i
	}
	var mixed []*yaml.Node
	for _, i := range rapid.Permutation(order).Draw(t, "order") {
		mixed = append(mixed, n.Content[2*i], n.Content[2*i+1])
	}
	n.Content = mixed
}

func TestHashDoesNotDependOnTheOrderOfKeys(t *testing.T) {
	h, names := protocol(t)
	h["everything.yaml"] = everything
	names = append(names, "everything.yaml")
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(h[name]), &n); err != nil {
			t.Fatal(err)
		}
		shuffle(t, &n)
		mixed, err := yaml.Marshal(&n)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Load(name, h.read)
		if err != nil {
			t.Fatal(err)
		}
		other := home{"mixed.yaml": string(mixed)}
		for k, v := range packages {
			other[k] = v
		}
		b, err := Load("mixed.yaml", other.read)
		if err != nil {
			t.Fatalf("%v\n%s", err, mixed)
		}
		if a.Hash != b.Hash {
			t.Fatalf("another hash:\n%s", mixed)
		}
	})
}
