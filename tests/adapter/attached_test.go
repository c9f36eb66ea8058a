package adapter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A file that the user named with @ is in packs and found by searches, has a row in refs.jsonl, and says nothing in the user's name.
func TestAttachedFileIsInThePack(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	var large strings.Builder
	for i := range 400 {
		fmt.Fprintf(&large, `service %d has port %d\n`, i, 8000+i)
	}
	record := func(uuid, parent, typ, rest string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"sessionId":"s","uuid":%q,"type":%q,%s}`+"\n", parent, uuid, typ, rest)
	}
	file := func(name, text string) string {
		return fmt.Sprintf(`"attachment":{"type":"file","filename":%q,"content":{"type":"text","file":{"filePath":%q,"content":"%s","startLine":1}}}`, name, name, text)
	}
	data := record("u1", "null", "user", `"message":{"role":"user","content":"Implement @spec.md"}`) +
		record("f1", `"u1"`, "attachment", file("/w/spec.md", `The retry limit must be 7.\nNever deploy on Fridays.\nWe decided to use PostgreSQL.\n- [ ] Write the tests\n`)) +
		record("f2", `"f1"`, "attachment", file("/w/ports.txt", large.String())) +
		record("a1", `"f2"`, "assistant", `"message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"I read both."}]}`)
	name, p := filepath.Join(t.TempDir(), "s.jsonl"), at(m, "attached", "s")
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := m.CLI(t, "import", "--strict", name, p.path); r.Code != 0 || !strings.Contains(r.Stderr, "added 4 messages\n") {
		t.Errorf("import says: %s", r.Stderr)
	}
	if pack := p.read(t, "context/pack.md"); strings.Count(pack, "limit must be 7") != 1 || !strings.Contains(pack, "[Attached by the program: file /w/spec.md]") {
		t.Errorf("the pack:\n%.1000s", pack)
	}
	refs := p.read(t, "context/refs.jsonl")
	for _, want := range []string{`"path":"/w/spec.md","kind":"file","summary":"read"`, `"path":"/w/ports.txt","kind":"file"`, `"path":"context/line/3.txt","kind":"tool_output"`} {
		if !strings.Contains(refs, want) {
			t.Errorf("refs.jsonl lacks %s:\n%s", want, refs)
		}
	}
	for _, notes := range []string{"facts.jsonl", "decisions.jsonl", "todo.md"} {
		if said := p.read(t, "context/"+notes); said != "" {
			t.Errorf("%s takes the file for the user's words:\n%s", notes, said)
		}
	}
	if found := p.read(t, "context/search/service 399 port"); !strings.Contains(found, "service 399 has port 8399") {
		t.Errorf("the search finds\n%s", found)
	}
	out, said := p.export(t, "claude-code")
	if diff := adaptertest.CanonicalEqual([]byte(data), []byte(out)); diff != "" || said != "" {
		t.Errorf("the export is another transcript: %s; it says %q", diff, said)
	}
}
