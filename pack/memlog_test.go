package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tokens"
)

// memLog is a log and its index in memory, for tests of the compiler alone.
type memLog struct {
	records [][]byte
	entries []session.Entry
	heads   []string
	calls   map[string]int32
	reads   int // of records
}

func (l *memLog) Len() int                  { return len(l.records) }
func (l *memLog) At(line int) session.Entry { return l.entries[line-1] }
func (l *memLog) Record(line int) ([]byte, error) {
	l.reads++
	return l.records[line-1], nil
}

// add appends one record, indexed as package session does.
func (l *memLog) add(raw []byte) {
	if l.calls == nil {
		l.calls = map[string]int32{}
	}
	e := session.Entry{Len: int32(len(raw))}
	m := ctxabi.DecodeMessage(raw)
	e.Weight, e.Role = int32(m.Weight()), m.Role
	if ctxabi.CheckMessage(raw) != nil {
		e.Role, e.Flags = ctxabi.RoleUnknown, session.Damaged
	} else {
		if len(m.Calls) > 0 {
			e.Flags |= session.HasCalls
		}
		if len(m.Results) > 0 {
			e.Flags |= session.HasResults
			e.CallOf = l.calls[m.Results[0].CallID]
		}
		if m.Images > 0 {
			e.Flags |= session.HasImages
		}
		if m.CallID != "" && m.Role == ctxabi.Tool {
			e.CallOf = l.calls[m.CallID]
		}
	}
	head := ""
	if n := len(l.heads); n > 0 {
		head = l.heads[n-1]
		e.Offset = l.entries[n-1].Offset + int64(l.entries[n-1].Len) + 1
	}
	l.records, l.entries = append(l.records, raw), append(l.entries, e)
	for _, c := range m.Calls {
		if c.ID != "" {
			l.calls[c.ID] = int32(len(l.records))
		}
	}
	sum := sha256.Sum256(append([]byte(head), raw...))
	l.heads = append(l.heads, hex.EncodeToString(sum[:]))
}

// prefix is the log with its first n records.
func (l *memLog) prefix(n int) *memLog {
	return &memLog{records: l.records[:n], entries: l.entries[:n], heads: l.heads[:n]}
}

func (l *memLog) head() string {
	if len(l.heads) == 0 {
		return ""
	}
	return l.heads[len(l.heads)-1]
}

func logOf(records ...string) *memLog {
	l := &memLog{}
	for _, r := range records {
		l.add([]byte(r))
	}
	return l
}

func inputOf(l *memLog, budget int, files ...File) Input {
	return Input{Session: "s1", Agent: "coder", Budget: budget, Files: files, Messages: l, Head: l.head()}
}

func mustCompile(t interface {
	Fatalf(string, ...any)
	Helper()
}, in Input) *Build {
	t.Helper()
	b, err := Compile(in)
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return b
}

func parseJSON(t testing.TB, b *Build) packJSON {
	t.Helper()
	var p packJSON
	if err := json.Unmarshal(b.JSON, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func message(role, content string) []byte {
	b, err := json.Marshal(map[string]string{"role": role, "content": content})
	if err != nil {
		panic(err)
	}
	return b
}

func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
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
func fileOf(path, content string) File {
	name := path[strings.LastIndexByte(path, '/')+1:]
	f := File{At: -100, ID: name, Path: path, Data: []byte(content)}
	for i, s := range (&Input{}).recipe().Sources {
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
