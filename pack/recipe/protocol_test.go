package recipe

import (
	"os"
	"path/filepath"
	"testing"
)

// packages is what the recipes of testdata import.
var packages = home{
	"base.yaml": "sources:\n  - type: system_role\n  - {type: file, id: map, path: map.md}\n",
	"node_modules/@delta/context-react-dev/context.yaml": "sources:\n  - {type: file, id: react, path: \"${RECIPE_DIR}/react.md\"}\n  - type: journal\n",
	"packages/@team/context-react/context.yaml":          "sources:\n  - {type: file, id: react, path: \"${RECIPE_DIR}/react.md\"}\n",
}

// protocol gives the names of the recipes of testdata/protocol.
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
