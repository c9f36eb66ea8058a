package builder

import (
	"encoding/json"
	"testing"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// inputFrom is the input of a pack of the first n records of h.
func inputFrom(h *packtest.History, n, budget int) pack.Input {
	messages, events, tools, head := h.Until(n)
	in := pack.Input{Session: "s1", Agent: "coder", Budget: budget, Messages: messages, Head: messages.Head()}
	if len(tools) > 0 {
		in.Tools, in.Events, in.EventsHead = tools, events, head
	}
	return in
}

func compiled(t testing.TB, in pack.Input) *pack.Build {
	t.Helper()
	b, err := pack.CompileWith(&in, pack.NewMemo())
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return b
}

// same holds two builds against each other.
func same(t interface {
	Helper()
	Errorf(string, ...any)
}, a, b *pack.Build) {
	t.Helper()
	for _, f := range []struct{ name, a, b string }{{"pack_id", a.ID, b.ID}, {"pack.md", string(a.Markdown), string(b.Markdown)},
		{"pack.json", string(a.JSON()), string(b.JSON())}, {"pack.report.md", string(a.Report), string(b.Report)}} {
		if f.a != f.b {
			t.Errorf("%s differs:\n%s\n---\n%s", f.name, f.a, f.b)
		}
	}
}

// readAccount is what the tests of builds read of pack.json.
type readAccount struct {
	BudgetTokens int    `json:"budget_tokens"`
	Compactions  int    `json:"compactions"`
	EpochReason  string `json:"epoch_reason"`
	Stale        bool   `json:"stale"`
	Items        []readItem
	Omitted      []readItem
}

type readItem struct {
	Source, Log, Range, Kind, Path, Trust string
	Extra                                 bool
}

// accountOf reads pack.json.
func accountOf(t testing.TB, b *pack.Build) (a readAccount) {
	t.Helper()
	if err := json.Unmarshal(b.JSON(), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func countedTokens(t testing.TB, encoding string, b []byte) int {
	t.Helper()
	c, err := tokens.For(encoding)
	if err != nil {
		t.Fatal(err)
	}
	return c.Count(string(b))
}

func commonStart(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func shortened(s string) string { return s[:min(len(s), 6000)] }

const definedTools = `[
{"type":"function","function":{"name":"read_file","description":"Read a file.","parameters":{"type":"object","properties":{"path":{"type":"string","maxLength":1e3}},"required":["path"]}}},
{"name":"bash","description":"Run a command.","input_schema":{"type":"object","properties":{"cmd":{"type":"string"}}}},
{"name":"read_file"},{"type":"web_search_20250305","name":"web_search"},{"name":"look up","parameters":{"properties":{}}}]`
