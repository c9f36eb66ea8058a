package builder

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// heapOf returns how many bytes of the heap go when let lets go of them.
func heapOf(let func()) int {
	live := func() int {
		var m runtime.MemStats
		for range 3 { // the second one frees what pools hold
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	full := live()
	let()
	return full - live()
}

// An agent's session: each turn calls a tool, and a pack is read after each record.
func agentsRecord(i int) []byte {
	words := strings.Repeat(fmt.Sprintf("step %d of file%d.go\n", i, i%17), 12)
	switch {
	case i%20 == 0:
		return packtest.Message("user", "Request "+words)
	case i%2 == 1:
		return fmt.Appendf(nil, `{"role":"assistant","content":"I look at step %d","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"file%d.go\"}"}}]}`, i, i, i%17)
	}
	return fmt.Appendf(nil, `{"role":"tool","tool_call_id":"call_%d","content":%q}`, i-1, words)
}

func TestBuildsThatAreKeptTakeTheMemoryTheySay(t *testing.T) {
	for name, look := range map[string]func(d *desk, b *pack.Build){
		"pack.md":   func(*desk, *pack.Build) {},
		"pack.json": func(_ *desk, b *pack.Build) { b.JSON() },
		"native": func(d *desk, b *pack.Build) {
			if _, err := d.b.Native(d.x, b, native.OpenAI); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, Config{Budget: 16000})
			var kept []*pack.Build
			said := 0
			for i := range 240 {
				d.append(agentsRecord(i))
				if i < 150 {
					continue
				}
				b := d.pack()
				look(d, b)
				kept = append(kept, b)
			}
			for _, b := range kept {
				said += b.Size()
			}
			d.b.Forget(d.x.ID())
			held := heapOf(func() { kept = nil })
			t.Logf("%d bytes said, %d held", said, held)
			if held > said*5/4 || held < said/2 {
				t.Errorf("builds that say they take %d bytes hold %d", said, held)
			}
			runtime.KeepAlive(d)
		})
	}
}
