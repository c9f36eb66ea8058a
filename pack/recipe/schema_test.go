package recipe

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("recipe.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("recipe.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid says what the schema has against a YAML text.
func valid(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	return s.Validate(v)
}

func TestSchemaAcceptsWhatLoadAccepts(t *testing.T) {
	s := compiled(t)
	h, names := protocol(t)
	for _, name := range names {
		if err := valid(t, s, h[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r, err := Load(name, h.read)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(t, s, string(r.YAML())); err != nil {
			t.Errorf("%s, effective: %v", name, err)
		}
	}
	for name, data := range map[string][]byte{"default": defaultYAML, "default, effective": Default().YAML()} {
		if err := valid(t, s, string(data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := valid(t, s, everything); err != nil {
		t.Errorf("everything: %v", err)
	}
}

// What only Load knows: patterns, ids, imports, names, and how a file is written.
var beyondSchema = []string{"bad_", "glob_", "duplicate_id", "two_", "state_is", "strategy_unknown", "strategy_sections_same", "variable_",
	"import_", "env_reserved", "history_low", "history_nan", "version_", "id_", "cache_ttl_bad", "cache_ttl_zero", "max_tokens_percent",
	"path_empty", "message_empty", "strategy_section_empty", "command_program", "fallback_", "yaml_"}

func TestSchemaRefusesWhatLoadRefuses(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if slices.ContainsFunc(beyondSchema, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		if valid(t, s, string(data)) == nil {
			t.Errorf("%s: the schema has nothing against it", name)
		}
		refused++
	}
	if refused < 60 {
		t.Errorf("only %d recipes were tried", refused)
	}
}

func TestReferenceNamesEveryKey(t *testing.T) {
	text := string(Reference())
	for _, o := range objects {
		for _, f := range o.Fields {
			if !strings.Contains(text, "- `"+f.Key+"`: ") || f.Doc == "" {
				t.Errorf("%s of %s is not explained", f.Key, o.Name)
			}
		}
	}
	for _, s := range types {
		if !strings.Contains(text, "| `"+string(s.Type)+"` |") {
			t.Errorf("%s is not explained", s.Type)
		}
	}
}
