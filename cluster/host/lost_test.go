package host

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// An entry is gone on all three servers. Hosts that have read it go on with each other; one that never did shows what
// stands before it, takes nothing, and never shows what stands behind it.
func TestAnEntryIsLostOnAllServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t, "a", "b")
		a, b := r.nodes[0], r.nodes[1]
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		count := rapid.IntRange(2, 8).Draw(t, "entries")
		for i := range count {
			ok(r.nodes[i%2].append(fmt.Sprint("m", i)))
		}
		ok(a.h.Fresh(context.Background(), a.x, 0))
		ok(b.h.Fresh(context.Background(), b.x, 0))
		s := Subject(a.x)
		list, err := a.engine.Read(context.Background(), s, engine.Range{Leader: true})
		ok(err)
		gone := rapid.IntRange(0, len(list)-2).Draw(t, "gone")
		for replica := range 3 {
			r.servers.Lose(s.Shard(), replica, list[gone].Seq)
		}
		all := a.content(ctxabi.MessagesFile)
		ok(b.append("goes on"))
		ok(a.append("goes on, too"))
		ok(b.h.Fresh(context.Background(), b.x, 0))
		if x, y := a.files(), b.files(); !maps.Equal(x, y) {
			t.Errorf("those that have read it show\n%q\n%q", x, y)
		}
		whole := a.content(ctxabi.MessagesFile)
		if !strings.HasPrefix(whole, all) || strings.Count(whole, "\n") != count+2 {
			t.Errorf("those that have read it show %q", whole)
		}
		disk := sessiontest.New()
		late := r.add(&node{name: "late", fs: disk, disk: disk, dir: "/store"})
		for range 3 {
			if err := late.h.Fresh(context.Background(), late.x, 0); err == nil || !strings.Contains(err.Error(), "ctxfs cluster status") {
				t.Errorf("a host looks at what lacks an entry: %v", err)
			}
			if err := late.append("of the late one"); err == nil {
				t.Error("a host appends behind what it cannot read")
			}
		}
		got := ""
		if _, err := vfs.ReadFile(disk, late.x.Dir()+"/"+ctxabi.MessagesFile); err == nil {
			got = late.content(ctxabi.MessagesFile)
		}
		if !strings.HasPrefix(whole, got) || strings.Count(got, "\n") > gone {
			t.Errorf("entry %d is lost, and a host that never read it shows %q", gone, got)
		}
		for _, n := range r.nodes {
			n.stop()
		}
	})
}
