package result

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/compression.md shows what the golden files hold.
func TestDocumentShowsGoldenFiles(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "compression.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile("(?s)<!-- (before|after) (\\w+) -->\n````\n(.*?)\n````\n").FindAllStringSubmatch(string(data), -1) {
		what, name, text := m[1], m[2], m[3]
		again, isRepeat := strings.CutPrefix(name, "repeat_")
		if what == "before" {
			in := ""
			if isRepeat {
				in = repeatFile(t, again+".new")
			} else {
				in = resultOf(t, name)
			}
			if !strings.Contains(in, text) {
				t.Errorf("the text of %s does not hold what stands before it", name)
			}
			continue
		}
		file := filepath.Join("testdata", "results", name+".txt")
		if isRepeat {
			file = filepath.Join("testdata", "repeats", again+".txt")
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text != string(want) {
			t.Errorf("%s.txt differs from what the document shows", name)
		}
		seen[name] = true
	}
	for _, kind := range kinds {
		if !strings.Contains(string(data), "(`"+string(kind)+"`)") {
			t.Errorf("kind %s is not explained", kind)
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %d texts are shown", len(seen))
	}
}
