package notes

import (
	"testing"
)

func TestNotesOfAFewRecords(t *testing.T) {
	var n State
	for i, s := range []Record{
		{Role: "user", Text: "Make the retries work.\nNever push to main."},
		{Role: "assistant", Calls: []Call{{Name: "read", Arguments: `{"path":"a.go"}`}, {Name: "edit", Arguments: `{"path":"b.go"}`}}},
		{Role: "assistant", Calls: []Call{{Name: "TodoWrite", Arguments: `{"todos":[{"content":"Retry","status":"completed"},{"content":"Test it","status":"pending"}]}`}}},
	} {
		n.Add(Position{Line: i + 1}, s.Role, Find(s))
	}
	if f := n.Facts(); len(f) != 1 || f[0].ID != "f1" || f[0].Text != "Never push to main." || f[0].Source != "messages:1" {
		t.Errorf("facts: %v", f)
	}
	if r := n.Refs(); len(r) != 2 || r[1].ID != "r2.2" || r[1].Path != "b.go" {
		t.Errorf("refs: %v", r)
	}
	if got, want := n.Todo(), "- [ ] Test it (messages:3)\n- [x] Retry (messages:3)\n"; got != want {
		t.Errorf("todo: %q, want %q", got, want)
	}
	if got, want := n.Summary(100, func(s string) int { return len(s) / 4 }), "- Asked: Make the retries work. (messages:1)\n"; got != want {
		t.Errorf("summary: %q, want %q", got, want)
	}
}
