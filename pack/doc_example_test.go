package pack

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/packtest"
)

// exampleHistory is the session that comes with ctxfs, its first n messages.
func exampleHistory(t *testing.T, n int) *packtest.Log {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "examples", "session", "messages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	log := packtest.NewLog()
	for line := range bytes.Lines(data) {
		if log.Len() < n {
			log.Append(bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	return log
}

// docs/compression.md shows what a compaction makes of the example's history: the journal of a pack up to its
// first live record.
func TestTheDocumentShowsWhatACompactionMakes(t *testing.T) {
	history := exampleHistory(t, exampleRecords)
	b, err := compile(Input{Session: "example", Agent: "coder", Budget: exampleBudget, Messages: history, Head: history.Head()})
	if err != nil {
		t.Fatal(err)
	}
	md := string(b.Markdown)
	last := strings.LastIndex(md, " left out: ")
	if fold := strings.LastIndex(md, " (folded)"); fold > last {
		last = fold
	}
	if last < 0 {
		t.Fatalf("nothing was compacted:\n%s", md)
	}
	end := last + strings.Index(md[last:], "\n") + 1
	if next := strings.Index(md[end:], "\n## "); !strings.HasPrefix(md[end:], "## ") && next >= 0 {
		end += next + 1
	}
	want := "<!-- journal -->\n````\n" + md[:end] + "````\n"

	name := filepath.Join("..", "docs", "compression.md")
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	begin := bytes.Index(doc, []byte("<!-- journal -->\n````\n"))
	if begin < 0 {
		t.Fatal("docs/compression.md has no place for it")
	}
	stop := begin + len("<!-- journal -->\n````\n")
	stop += bytes.Index(doc[stop:], []byte("````\n")) + len("````\n")
	if got := string(doc[begin:stop]); got != want {
		if !*packtest.Update {
			t.Fatalf("it shows\n%s\nnot\n%s", got, want)
		}
		doc = append(append(append([]byte{}, doc[:begin]...), want...), doc[stop:]...)
		if err := os.WriteFile(name, doc, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What the document shows: the first records of the example, in few tokens.
const (
	exampleRecords = 100
	exampleBudget  = 1600
)
