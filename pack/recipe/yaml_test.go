package recipe

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"testing"
)

// from is how a line of an effective recipe ends.
var from = regexp.MustCompile(`(?:[^ ]:|[^ ]) # (?:default|built in|.+:[1-9][0-9]*)\n$`)

// again checks what holds of every recipe: it survives YAML and JSON.
func again(t *testing.T, r *Recipe) {
	t.Helper()
	text := r.YAML()
	for line := range bytes.Lines(text) {
		if !from.Match(line) {
			t.Errorf("a line does not say where it is from: %s", line)
		}
	}
	s, err := Load("again.yaml", home{"again.yaml": string(text)}.read)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if s.Hash != r.Hash {
		t.Errorf("another hash after\n%s\n%s", text, s.YAML())
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Recipe
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&back, r) {
		t.Errorf("JSON gave back\n%+v, not\n%+v", &back, r)
	}
	if back.hash() != r.Hash {
		t.Error("JSON gave back another hash")
	}
}

func TestProtocolRecipesSurviveYAMLAndJSON(t *testing.T) {
	h, names := protocol(t)
	for _, name := range names {
		r, err := Load(name, h.read)
		if err != nil {
			t.Fatal(err)
		}
		again(t, r)
	}
	again(t, Default())
}
