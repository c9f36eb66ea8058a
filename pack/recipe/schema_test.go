package recipe

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

func compiled(t testing.TB) *jsonschema.Schema {
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

// valid returns what the schema has against a YAML text.
func valid(t testing.TB, s *jsonschema.Schema, text string) error {
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

// What only Load knows: whether expressions compile, which ids and files there are, what concerns several places, and how a file is written.
var beyondSchema = []string{"bad_", "duplicate_id", "state_is_", "strategy_unknown", "strategy_sections_same", "two_documents",
	"import_itself", "import_not_found", "import_outside", "import_package_", "import_tune_", "import_url", "import_without_a_path", "history_low", "history_nan", "yaml_"}

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
	if refused < 80 {
		t.Errorf("only %d recipes were tried", refused)
	}
}

// An editor offers the values of a key that decides about others before these are there, and their own words.
func TestEditorsOfferEveryTypeOfASource(t *testing.T) {
	var s struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Enum  []string
				AnyOf []struct{ Const, Description string }
			}
			AllOf []struct {
				If struct {
					Properties map[string]struct{ Const string }
				}
				Then struct{ Properties map[string]any }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.Tag == "" {
			continue
		}
		got := s.Defs[o.Name]
		if !slices.Equal(got.Properties[o.Tag].Enum, o.Fields[0].Enum) {
			t.Errorf("%s offers %v for %s", o.Name, got.Properties[o.Tag].Enum, o.Tag)
		}
		for i, value := range o.Fields[0].Enum {
			rule := got.AllOf[i]
			if rule.If.Properties[o.Tag].Const != value {
				t.Fatalf("%s: rule %d is %+v", o.Name, i, rule)
			}
			var keys []string
			for key := range rule.Then.Properties {
				keys = append(keys, key)
			}
			if want := keysOf(&o, value, true, false); len(want) != len(keys) || slices.ContainsFunc(want, func(k string) bool { return !slices.Contains(keys, k) }) {
				t.Errorf("for %s %s an editor offers %v, not %v", value, o.Name, keys, want)
			}
			if o.Name == "source" && got.Properties[o.Tag].AnyOf[i].Description == "" {
				t.Errorf("an editor does not say what %s is", value)
			}
		}
	}
}

func TestReferenceNamesEveryKey(t *testing.T) {
	text := reference()
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
