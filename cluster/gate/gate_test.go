package gate

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// cluster is one with a leader of all shards.
type cluster struct {
	mu       sync.Mutex
	server   string
	election string
	denied   error
	leaders  Leaders // nil: nobody ever looked
}

func (c *cluster) Leader(context.Context, int) (string, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server, c.election, c.denied
}

func (c *cluster) Meta(_ context.Context, key string) (nats.Note, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if key != nats.MetaLeaders || c.leaders == nil {
		return nats.Note{}, nil
	}
	data, err := json.Marshal(c.leaders)
	return nats.Note{Data: data, Seq: 1}, err
}

// looked notes a look at all replicas.
func (c *cluster) looked(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaders = Leaders{}
	for shard := range engine.OwnerShard + 1 {
		c.leaders[nats.StreamOf(shard)] = Leader{c.server, c.election, why}
	}
}

func (c *cluster) elect(server, election string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server, c.election = server, election
}

var owner = engine.Subject{Owner: "u1000"}

func TestALeaderThatNobodyLookedAtLetsNobodyPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{server: "n1", election: "1"}
		c.looked("")
		g := New(c)
		if err := g.Pass(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
		for _, next := range [][2]string{{"n2", "2"}, {"n1", "3"}} { // the second one led before, and was whole then
			c.elect(next[0], next[1])
			begin := time.Now()
			if err := g.Pass(t.Context(), owner); !errors.Is(err, engine.ErrUnreachable) || !strings.Contains(err.Error(), "CTXT: "+next[0]+" leads") {
				t.Errorf("%v", err)
			}
			if d := time.Since(begin); d < Patience || d > Patience+time.Second {
				t.Errorf("it waited %v", d)
			}
			go func() {
				time.Sleep(time.Second)
				c.looked("")
			}()
			if err := g.Pass(t.Context(), owner); err != nil {
				t.Errorf("a look comes while it waits: %v", err)
			}
		}
		c.looked("n1 ends at 3, and n2 at 9")
		if err := g.Pass(t.Context(), owner); err == nil || !strings.Contains(err.Error(), "n1 ends at 3, and n2 at 9") {
			t.Errorf("%v", err)
		}
		if waited, refused, _ := g.Stats(); waited != 5 || refused != 3 {
			t.Errorf("%d waited, %d were refused", waited, refused)
		}
	})
}

func TestAHostOfSomeOwnersGoesByTheLastLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{server: "n1", election: "1", denied: engine.ErrDenied}
		c.looked("")
		g := New(c)
		if err := g.Pass(t.Context(), owner); err != nil {
			t.Error(err)
		}
		c.looked("n1 has lost 3 entries")
		if err := g.Pass(t.Context(), owner); !errors.Is(err, engine.ErrUnreachable) {
			t.Error(err)
		}
	})
}

func TestAClusterAtWhichNobodyEverLookedIsNamed(t *testing.T) {
	g := New(&cluster{server: "n1", election: "1"})
	if err := g.Pass(t.Context(), owner); err != nil {
		t.Error(err)
	}
	bad, err := g.Unattested(t.Context())
	if _, _, n := g.Stats(); n != int64(len(bad)) {
		t.Errorf("%d of %d", n, len(bad))
	}
	if err != nil || len(bad) != engine.OwnerShard+1 || !strings.Contains(bad[engine.OwnerShard], "ctxfs cluster serve") {
		t.Errorf("%v %v", bad, err)
	}
}
