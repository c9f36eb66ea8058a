package session

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func FuzzParseHead(f *testing.F) {
	chain := strings.Repeat("0a", 32)
	f.Add(chain + "  12  home/1000/agent/a/session/s/messages.jsonl")
	f.Add(chain + "  0  shared/team/agent/a/session/s/events.jsonl")
	for _, bad := range []string{"", chain, chain + " -1 home/1/agent/a/session/s/events.jsonl", chain + " 1 home/1/agent/a/session/s/state",
		chain + " 1 home/1/agent/a/events.jsonl", "zz 1 home/1/agent/a/session/s/events.jsonl", chain + " 1 home/1/agent/a/session/s/events.jsonl more"} {
		if h, err := ParseHead(bad); err == nil {
			f.Errorf("%q was taken for %v", bad, h)
		}
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h, err := ParseHead(line)
		if err != nil {
			if ctxabi.KindOf(err) != ctxabi.ErrMalformed {
				t.Fatal(err)
			}
			return
		}
		if again, err := ParseHead(h.String()); err != nil || again != h {
			t.Fatalf("%q gave %v, and that %v (%v)", line, h, again, err)
		}
	})
}
