package cluster

import (
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/gate"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// maintain opens the engine of the maintenance user on a machine until the test ends.
func maintain(t *testing.T, m *servers.Made, machine string) *nats.Engine {
	t.Helper()
	o, err := m.Machine(t, machine).Maintenance()
	if err != nil {
		t.Fatal(err)
	}
	o.Unsafe = true
	e, err := nats.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// A host makes first copies again soon after an election, whether a server was lost or has handed over.
func TestANewLeaderIsLookedAt(t *testing.T) {
	suite.Matrix(t, slow)
	t.Parallel()
	m := servers.Make(t)
	m.Serve(t, []int{0, 1, 2})
	whole(t, m, "n1")
	k := maintain(t, m, "n1")
	e, err := connect(t, m, "n1")
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(e)
	owner := engine.Subject{Owner: "u1000"}
	leads := func() string {
		_, election, err := e.Leader(t.Context(), owner.Shard())
		if err != nil {
			return ""
		}
		return election
	}
	pass := func(what string) {
		t.Helper()
		await(t, "first copies are made "+what, func() bool {
			err := g.Pass(t.Context(), owner)
			if err != nil {
				t.Log(err)
			}
			return err == nil
		})
	}
	pass("at first")
	for range 3 {
		before := leads()
		if err := k.StepDown(t.Context(), nats.StreamOf(owner.Shard()), ""); err != nil {
			t.Fatal(err)
		}
		await(t, "another leader", func() bool { now := leads(); return now != "" && now != before })
		pass("under another leader")
	}
	before := leads()
	server, _, err := e.Leader(t.Context(), owner.Shard())
	if err != nil {
		t.Fatal(err)
	}
	m.Kill(int(server[1] - '1'))
	await(t, "another leader", func() bool { now := leads(); return now != "" && now != before })
	pass("while one server is lost")
	if bad, err := g.Unattested(t.Context()); err != nil || len(bad) > 0 {
		t.Errorf("%v %v", bad, err)
	}
	waited, refused, _ := g.Stats()
	t.Logf("%d had to wait, %d of them in vain", waited, refused)
}
