package recipe

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad looks for recipes that crash the parser, whose problems are nowhere, or
// that are not the same recipe when they are shown and read again.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/broken/*.yaml", "testdata/protocol/*.yaml", "*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	schema := compiled(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		h := home{"context.yaml": string(data)}
		for k, v := range packages {
			h[k] = v
		}
		r, err := Load("context.yaml", h.read)
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 || r != nil {
				t.Fatalf("%v is no list of problems", err)
			}
			for _, p := range problems {
				inside(t, h, p.Origin)
			}
			return
		}
		again(t, r)
		if err := valid(t, schema, string(r.YAML())); err != nil {
			t.Errorf("the schema refuses what is shown: %v", err)
		}
		r.Warnings()
		for _, p := range r.Undefined(nil) {
			inside(t, h, p.Origin)
		}
	})
}
