package cluster

import (
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// The power of one server, of two and of all goes while hosts append. Nothing that was acknowledged is lost.
func TestThePowerOfServersIsCut(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	c.Powered(t)
	agree(t, c)
	l := startLoad(t, c, "a", "b")
	l.progress(t, 100)
	cuts, gone := 0, 0
	rounds := 1
	if suite.Soak() {
		rounds = 20
	}
	for range rounds {
		n := c.Leader(t, l.shard())
		for _, which := range [][]int{{n}, {n, (n + 1) % 3}, {0, 1, 2}} {
			cuts += len(which)
			gone += c.CutPower(t, which...)
			c.Restart(t, which...)
			l.progress(t, 100)
			agree(t, c)
		}
	}
	l.check(t)
	if t.Logf("%d servers lost their power; of a file that was not synced, %d lost the content", cuts, gone); gone == 0 {
		t.Error("what was not synced has survived: this says nothing")
	}
}
