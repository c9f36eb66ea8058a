package pack

import (
	"encoding/base64"
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

// A log of one pattern and a traceback takes the same few tokens at every budget, and the traceback is among them.
func TestRepeatedLinesCostLittle(t *testing.T) {
	var log strings.Builder
	for i := range 600 {
		fmt.Fprintf(&log, "iter %d: 21.%03d ms ok\n", i, i)
	}
	log.WriteString("Traceback (most recent call last):\n  File \"bench.py\", line 12, in <module>\nZeroDivisionError: division by zero\n")
	for _, budget := range []int{4000, 8000, 32000, 200000} {
		l := logOf(string(message("user", "Run it.")))
		answered(l, "c", "bash", `{"command":"python bench.py"}`, log.String())
		b := mustCompile(t, inputOf(l, budget))
		if md := string(b.Markdown); b.Tokens > 300 || !strings.Contains(md, "more like it]") || !strings.Contains(md, "ZeroDivisionError: division by zero") {
			t.Errorf("%d: %d tokens:\n%s", budget, b.Tokens, md)
		}
	}
}

// Ten screenshots in the text of results fit in one turn.
func TestScreenshotsAsTextFitInATurn(t *testing.T) {
	l := logOf(string(message("user", "Look at all pages.")))
	data := make([]byte, 90000)
	for i := range data {
		data[i] = byte(i * i * 31 / 7)
	}
	for i := range 10 {
		answered(l, fmt.Sprint("c", i), "browser_screenshot", "{}", fmt.Sprintf(`{"page":%d,"screenshot":"data:image/png;base64,%s"}`, i, base64.StdEncoding.EncodeToString(data)))
	}
	b := mustCompile(t, inputOf(l, 8000))
	if p := parseJSON(t, b); p.Tokens > 1500 || p.Compactions > 0 {
		t.Errorf("%d tokens, %d compactions", p.Tokens, p.Compactions)
	}
	for i := range 10 {
		if want := fmt.Sprintf(`{"page":%d,"screenshot":"[Image png, 120,000 characters · context/line/%d.txt]"}`, i, 2*i+3); !strings.Contains(string(b.Markdown), want) {
			t.Errorf("the pack lacks %s", want)
		}
	}
}

// Eight equal calls with equal results are one line and references to it, live and folded.
func TestEqualCallsAreShownOnce(t *testing.T) {
	content := strings.Repeat("The ledger keeps amounts in cents. ", 9)
	l := logOf(string(message("user", "Have a look.")))
	for i := range 8 {
		answered(l, fmt.Sprint("r", i), "bash", `{"command":"cat f20"}`, content)
	}
	live := mustCompile(t, inputOf(l, 8000))
	if n := strings.Count(string(live.Markdown), content); n != 1 || strings.Count(string(live.Markdown), "[the same as 3 above: 1 line, ") != 7 {
		t.Errorf("the content stands %d times in:\n%s", n, live.Markdown)
	}

	for i := range 30 {
		answered(l, fmt.Sprint("t", i), "bash", fmt.Sprintf(`{"command":"cat t%d"}`, i), fmt.Sprintf("ticket %d: %s", i, strings.Repeat(fmt.Sprintf("order %d is paid. ", i), 20)))
	}
	folded := mustCompile(t, inputOf(l, 4000))
	shown, references := 0, 0
	for _, line := range foldedResults(folded) {
		if strings.HasPrefix(line, "the same as 17") {
			references++
		} else if strings.Contains(line, "ledger keeps") {
			shown++
		}
	}
	if shown != 1 || references < 3 {
		t.Errorf("%d lines with the content, %d references:\n%s", shown, references, folded.Markdown)
	}
}
