package notes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A set that no rule names is forgotten, and a phrase that stands twice in one is a slip.
func TestPhrasesAreUsedAndStandOnce(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(data)
	}
	for name, list := range phraseLists() {
		if !strings.Contains(source, `Set("`+name+`")`) {
			t.Errorf("no rule names the set %s", name)
		}
		list = slices.Sorted(slices.Values(list))
		for i, phrase := range list {
			if i > 0 && list[i-1] == phrase {
				t.Errorf("%s has %q twice", name, phrase)
			}
			if phrase != strings.ToLower(phrase) {
				t.Errorf("%s: %q matches nothing: words are compared in small letters", name, phrase)
			}
		}
	}
}

func TestReadListsRefusesWhatIsNoList(t *testing.T) {
	got := readLists("# comment\n[a]\nx  y, z,\n# more\nw\n[b]\n[ [[, ] ok\n")
	if !slices.Equal(got["a"], []string{"x y", "z", "w"}) || !slices.Equal(got["b"], []string{"[ [[", "] ok"}) {
		t.Errorf("%q", got)
	}
	for _, file := range []string{"x\n[a]\n", "[a]\nx\n[a]\ny\n"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is read", file)
				}
			}()
			readLists(file)
		}()
	}
}
