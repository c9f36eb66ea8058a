package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPart(t *testing.T) {
	s := numbered(t, 20) // a system record, a request, then the agent and a tool in turns
	if s.Lead() != 1 || s.AsksHere(1) || !s.AsksHere(2) || s.AsksHere(4) || s.OpensHere(4) || !s.OpensHere(5) {
		t.Errorf("%d leading records", s.Lead())
	}
	p, err := s.Part("P01", 5, 8, "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "P01" || p.Set != s.Set || p.Messages.Len() != 5 || !strings.Contains(p.Text(1), "Be brief.") || !strings.Contains(p.Text(2), "box 5 now") || !strings.HasPrefix(p.Text(5), "## 5 tool") {
		t.Errorf("%d records, the second is %q", p.Messages.Len(), p.Text(2))
	}
	if p.Tokens() != p.Size(1)+p.Size(2)+p.Size(3)+p.Size(4)+p.Size(5) || p.Size(1) != s.Size(1) {
		t.Errorf("%d tokens", p.Tokens())
	}
	for _, span := range [][2]int{{1, 5}, {5, 4}, {5, 21}} {
		if _, err := s.Part("x", span[0], span[1], ""); err == nil {
			t.Errorf("records %v are a part", span)
		}
	}
	if _, err := s.Part("x", 5, 8, "no such model"); err == nil {
		t.Error("tokens of an encoding that is not there")
	}
}

// By its short name each method makes the pack that it makes by its own.
func TestPackBy(t *testing.T) {
	s := numbered(t, 60)
	for i, slug := range MethodSlugs() {
		got, err := PackBy(s, slug, 600, "")
		if want := packBy(t, s, makers[i].Name, 600); err != nil || got.Text != want.Text || got.Tokens != want.Tokens {
			t.Errorf("%s: %d tokens, want %d; %v", slug, got.Tokens, want.Tokens, err)
		}
	}
	if _, err := PackBy(s, "nice", 600, ""); err == nil || !strings.Contains(err.Error(), "last, head-tail") {
		t.Errorf("any word is a method: %v", err)
	}
	if _, err := PackBy(s, "last", 600, "no such model"); err == nil {
		t.Error("tokens of an encoding that is not there")
	}
}

func TestWriteLost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lost.jsonl")
	if err := WriteLost(file, []Lost{{Identifier: "a<b", Record: 3}, {Identifier: "c.go"}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if lines := strings.Split(string(data), "\n"); err != nil || len(lines) != 3 || !strings.Contains(lines[0], `"identifier":"a<b"`) {
		t.Errorf("%q, %v", data, err)
	}
	if err := WriteLost[Lost](filepath.Join(file, "x"), nil); err == nil {
		t.Error("a file below a file was written")
	}
}
