package pack

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

func inputOf(l *memLog, budget int, files ...blocks.File) Input {
	return Input{Session: "s1", Agent: "coder", Budget: budget, Files: files, Messages: l, Head: l.Head()}
}

// compile makes the pack of in without earlier builds.
func compile(in Input) (*Build, error) { return CompileWith(&in, NewMemo()) }

func mustCompile(t interface {
	Fatalf(string, ...any)
	Helper()
}, in Input) *Build {
	t.Helper()
	b, err := compile(in)
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return b
}

// parseJSON returns pack.json with sources, ranges and kinds as the compiler has them.
func parseJSON(t testing.TB, b *Build) packJSON {
	t.Helper()
	var p packJSON
	if err := json.Unmarshal(b.JSON(), &p); err != nil {
		t.Fatal(err)
	}
	p.unname()
	return p
}

// unname takes back what the names for readers of the format changed.
func (p *packJSON) unname() {
	for i := range p.Items {
		it := &p.Items[i]
		it.Source, it.Range, it.Kind = cmp.Or(it.Log, it.Source), cmp.Or(it.RangeV1, it.Range), cmp.Or(it.KindV1, it.Kind)
	}
	for i := range p.Omitted {
		p.Omitted[i].Source = cmp.Or(p.Omitted[i].Log, p.Omitted[i].Source)
	}
}

func counterFor(encoding string) (*tokens.Counter, error) { return tokens.For(encoding) }

var testCounter = func() *tokens.Counter {
	c, err := tokens.For("")
	if err != nil {
		panic(err)
	}
	return c
}()

// optionalFiles are the files of the default recipe that may be cut and stand as they are.
var optionalFiles = []string{"AGENTS.md", "DELTA.md", "context/summary.md", "context/facts.jsonl", "context/decisions.jsonl", "context/refs.jsonl", "context/todo.md"}

// fileOf is a file of the default recipe by its path.
func fileOf(path, content string) blocks.File {
	name := path[strings.LastIndexByte(path, '/')+1:]
	f := blocks.File{At: -100, ID: name, Path: path, Data: []byte(content)}
	for i, s := range (&Input{}).UsedRecipe().Sources {
		switch {
		case s.Type == recipe.TypeSystemRole && name == "system_prompt.md":
			f.At, f.ID = i, s.Block
		case s.Type == recipe.TypePinned && strings.Contains(path, "pinned/"):
			f.At, f.ID = i, "pinned/"+name
		case s.Type == recipe.TypeFile && strings.HasSuffix(s.Path, "/"+name), strings.HasPrefix(path, "context/"+string(s.Type)+"."):
			f.At, f.ID = i, s.Block
		}
	}
	if f.At == -100 {
		panic("no source of " + path)
	}
	return f
}

func sameBuild(t interface {
	Helper()
	Errorf(string, ...any)
}, a, b *Build) {
	t.Helper()
	if a.ID != b.ID {
		t.Errorf("pack_id %s and %s", a.ID, b.ID)
	}
	if string(a.Markdown) != string(b.Markdown) {
		t.Errorf("pack.md differs:\n%s\n---\n%s", a.Markdown, b.Markdown)
	}
	if string(a.JSON()) != string(b.JSON()) {
		t.Errorf("pack.json differs:\n%s\n---\n%s", a.JSON(), b.JSON())
	}
	if string(a.Report) != string(b.Report) {
		t.Errorf("pack.report.md differs:\n%s\n---\n%s", a.Report, b.Report)
	}
}
