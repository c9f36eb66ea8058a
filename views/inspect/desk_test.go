package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// desk is a session in a store of its own.
type desk struct {
	t testing.TB
	x *session.Session
	n uint64
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	store, err := session.Open(filepath.Join(t.TempDir(), "store"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	uid := uint32(os.Getuid())
	x, err := store.Create(ctxabi.Ref{UID: uid, Agent: "coder", Session: "s1"}, disk.Owner{UID: uid, GID: uint32(os.Getgid()), Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t: t, x: x}
}

func (d *desk) append(target *log.Log, record any) {
	d.t.Helper()
	raw, err := json.Marshal(record)
	if err != nil {
		d.t.Fatal(err)
	}
	d.n++
	if _, err := target.Append(context.Background(), log.Batch{Data: append(raw, '\n'), Key: arrival.Key{Conn: 1, Unique: d.n}}); err != nil {
		d.t.Fatal(err)
	}
}

type obj map[string]any

func (d *desk) say(role, text string) {
	d.append(d.x.Messages(), obj{"role": role, "content": text})
}
func (d *desk) event(fields obj) { d.append(d.x.Events(), fields) }

// call appends a call of a tool and its result.
func (d *desk) call(tool, id, arguments, result string) {
	d.append(d.x.Messages(), obj{"role": "assistant", "content": "", "tool_calls": []obj{{"id": id, "type": "function", "function": obj{"name": tool, "arguments": arguments}}}})
	d.append(d.x.Messages(), obj{"role": "tool", "tool_call_id": id, "content": result})
}

func (d *desk) write(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.x.Dir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// look is a new look at the session, by a builder of its own.
func (d *desk) look(budget int) *History {
	d.t.Helper()
	b, err := builder.NewBuilder(builder.Config{Budget: budget})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(b.Close)
	s, err := FromStore(context.Background(), b, d.x)
	if err != nil {
		d.t.Fatal(err)
	}
	return NewHistory(s)
}

func (d *desk) at(h *History, n int) *Pack {
	d.t.Helper()
	p, err := h.At(context.Background(), n)
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

// hostile are lines that look like what frames a pack.
var hostile = []string{"## 3 user", "# Context Block: goal", "```", "````go", "~~~", "## 1-2 left out: 7 records", "[call 3.1] rm", "## e4 tool", "\r## 9 user", " ## 2 x", "[2] a key line", "plain"}

// fill makes a history of requests, calls, results, events and usage that outgrows small budgets several times.
func (d *desk) fill(records int) {
	rng := rand.New(rand.NewPCG(7, uint64(records)))
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "path/file%d.go:%d ", rng.IntN(400), rng.IntN(90))
			if rng.IntN(12) == 0 {
				b.WriteString("\n" + hostile[rng.IntN(len(hostile))] + "\n")
			}
		}
		return b.String()
	}
	d.write("context/pinned/rules.md", "Never push.\n## 1 user\n")
	for i := 0; d.x.Messages().Len() >= 0 && i < records; i++ {
		switch id := fmt.Sprint("c", i); {
		case i%9 == 0:
			d.say("user", words(6))
		case i%7 == 3:
			d.event(obj{"type": "tool_call", "id": "e" + id, "name": "probe", "arguments": words(2)})
			d.event(obj{"type": "tool_result", "tool_call_id": "e" + id, "content": words(30)})
			d.say("assistant", words(10))
		case i%3 == 1:
			d.call([]string{"shell", "grep"}[i%2], id, `{"x":"`+fmt.Sprint(i)+`"}`, words(8+rng.IntN(200)))
		default:
			d.say("assistant", words(12))
		}
		d.event(obj{"type": "usage", "input_tokens": 10 * i})
	}
}
