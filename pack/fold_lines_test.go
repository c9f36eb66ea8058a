package pack

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// foldedResults returns the lines of folded results in a pack, by the place of their records.
func foldedResults(b *Build) map[string]string {
	lines := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^## (\d+) tool \S+ \(folded\)( .*)? · context/line/\d+\.txt$`).FindAllStringSubmatch(string(b.Markdown), -1) {
		lines[m[1]] = strings.TrimSpace(m[2])
	}
	return lines
}

// A folded result is never empty, however long its only line is.
func TestFoldedJSONIsNotEmpty(t *testing.T) {
	l := logOf(string(message("user", "Check.")))
	for i := range 60 {
		answered(l, fmt.Sprint("i", i), "bash", fmt.Sprintf(`{"command":"get %d"}`, i),
			fmt.Sprintf(`{"id":"%d","origin":"BOS","flights":[{"n":"HAT%d","price":904,"status":"available"},{"n":"HAX%d","price":700}],"passengers":[{"first_name":"Amelia"}],"status":"cancelled"}`, i, i, i))
	}
	lines := foldedResults(mustCompile(t, inputOf(l, 4000)))
	if len(lines) < 3 {
		t.Fatalf("%d folded results", len(lines))
	}
	for place, line := range lines {
		if !strings.Contains(line, "id ") || !strings.Contains(line, "status cancelled") {
			t.Errorf("record %s: %q", place, line)
		}
	}
}

// A file that was read folds to its path and outline, not to a line of it with a word of failure.
func TestFoldedFilesShowTheirOutline(t *testing.T) {
	l := logOf(string(message("user", "Read all parts.")))
	for i := range 40 {
		name := fmt.Sprintf("docs/part%d.md", i)
		text := fmt.Sprintf("# Part %d\n\nIntroduction.\n\n## Errors\n\n212 passed, 1 failed\n", i) + strings.Repeat(fmt.Sprintf("The part %d failed with an error.\n", i), 40)
		answered(l, name, "read_file", fmt.Sprintf(`{"path":%q}`, name), text)
	}
	lines := foldedResults(mustCompile(t, inputOf(l, 4000)))
	if len(lines) < 3 {
		t.Fatalf("%d folded results", len(lines))
	}
	for place, line := range lines {
		if !strings.HasPrefix(line, "docs/part") || !strings.Contains(line, " bytes: # Part ") || strings.Contains(line, "failed") {
			t.Errorf("record %s: %q", place, line)
		}
	}
}
