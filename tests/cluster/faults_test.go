package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/scrub"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// slow is why these tests are for the matrix.
const slow = "three servers, and elections of many seconds"

// underLoad starts a cluster with writers on the hosts a and b, and returns when n records are acknowledged.
func underLoad(t *testing.T, n int64) (*servers.Cluster, *load) {
	t.Helper()
	c := servers.Start(t)
	l := startLoad(t, c, "a", "b")
	l.progress(t, n)
	return c, l
}

// shard returns the shard of the journal that all writers share.
func (l *load) shard() int { return l.journals[0].subject.Shard() }

func TestTheLeaderIsKilled(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	l := startLoad(t, c, "a", "b")
	for range 2 {
		l.progress(t, 200)
		n := c.Leader(t, l.shard())
		c.Kill(n)
		l.progress(t, 200)
		c.Restart(t, n)
		l.progress(t, 200)
		agree(t, c)
	}
	l.check(t)
}

func TestTheLeaderIsIsolated(t *testing.T) {
	suite.Matrix(t, slow)
	c, l := underLoad(t, 200)
	n := c.Leader(t, l.shard())
	c.Isolate(n)
	l.progress(t, 300)
	await(t, "another server leads", func() bool { return c.Leader(t, l.shard()) != n })
	c.Heal()
	l.progress(t, 200)
	l.check(t)
}

func TestTheLeaderIsPaused(t *testing.T) {
	suite.Matrix(t, slow)
	c, l := underLoad(t, 200)
	n := c.Leader(t, l.shard())
	c.Pause(n)
	l.progress(t, 300)
	c.Resume(n)
	l.progress(t, 200)
	l.check(t)
}

func TestTheQuorumIsLost(t *testing.T) {
	suite.Matrix(t, slow)
	c, l := underLoad(t, 200)
	c.Kill(0, 1)
	l.failures(t, 18) // each writer knows by now, and what was under way has ended
	before := l.acked.Load()
	l.failures(t, 12)
	if after := l.acked.Load(); after != before {
		t.Errorf("%d records were acknowledged by one server of three", after-before)
	}
	c.Restart(t, 0, 1)
	l.progress(t, 200)
	l.check(t)
}

func TestAllServersAreKilled(t *testing.T) {
	suite.Matrix(t, slow)
	c, l := underLoad(t, 300)
	for range 2 {
		c.Kill(0, 1, 2)
		c.Restart(t, 0, 1, 2)
		l.progress(t, 300)
	}
	l.check(t)
}

func TestAcknowledgementsAreLost(t *testing.T) {
	suite.Matrix(t, slow)
	c, l := underLoad(t, 100)
	for round := range 4 {
		c.SilenceHost(t, "a", round%3) // perhaps the one that it asks first
		l.progress(t, 100)
		c.SilenceHost(t, "a")
		l.failures(t, 3)
		c.HealHost(t, "a")
		l.progress(t, 50)
		c.CutHost(t, "b", round%3, (round+1)%3)
		l.progress(t, 100)
		c.HealHost(t, "b")
	}
	l.check(t)
}

func TestLinksAreSlow(t *testing.T) {
	suite.Matrix(t, slow)
	c, l := underLoad(t, 50)
	c.Slow(400 * time.Millisecond) // longer than two of them: requests are hedged
	await(t, "an append that takes as long", func() bool { return time.Duration(l.longest.Load()) >= 800*time.Millisecond })
	l.progress(t, 3) // servers that hear so late of each other elect leaders again and again
	c.Heal()
	l.progress(t, 100)
	l.check(t)
}

func TestOneLinkIsCut(t *testing.T) {
	suite.Matrix(t, slow)
	c, l := underLoad(t, 50)
	n := c.Leader(t, l.shard())
	c.Cut(n, (n+1)%3)
	l.progress(t, 300)
	c.Heal()
	c.Silence(n, (n+2)%3)
	l.progress(t, 300)
	c.Heal()
	l.progress(t, 100)
	l.check(t)
}

// A server without room is done without; when none has any, appends fail until there is room again.
func TestADiskIsFull(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	for i := range 3 {
		c.Shut(i)
		c.SmallDisk(t, i, 512<<20)
		c.Restart(t, i)
		agree(t, c)
	}
	l := startLoad(t, c, "a", "b")
	l.progress(t, 200)
	n := c.Leader(t, l.shard())
	c.Fill(t, n)
	l.progress(t, 200)
	c.Free(t, n)
	c.Shut(n) // a server whose disk was full wants a start
	c.Restart(t, n)
	l.progress(t, 200)

	agree(t, c)
	for i := range 3 {
		c.Fill(t, i)
	}
	l.failures(t, 20)
	for i := range 3 {
		c.Free(t, i)
	}
	for i := range 3 {
		c.Shut(i)
		c.Restart(t, i)
	}
	l.progress(t, 200)
	l.check(t)
}

// Servers are stopped and started one after the other, as for a new version, and hosts append all the while.
func TestServersAreUpdatedOneByOne(t *testing.T) {
	suite.Matrix(t, slow)
	c, l := underLoad(t, 100)
	for i := range 3 {
		c.Shut(i)
		l.progress(t, 100)
		c.Restart(t, i)
		agree(t, c) // as an operator waits for "no problems" before the next one
	}
	l.progress(t, 100)
	l.check(t)
}

// A follower does not miss what comes while its server is cut off from the others.
func TestAFollowerIsCutOff(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	l := startLoad(t, c, "a")
	e := c.Open(t, "c")
	s := l.journals[0].subject
	feed, err := e.Follow(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	w := enginetest.NewWriter(e, s, "follower")
	catchUp := func() {
		for w.CatchUp(t.Context()) != nil && t.Context().Err() == nil {
		}
	}
	catchUp()
	follow := func(n int) {
		want := len(w.Keys()) + n
		await(t, "records on the feed", func() bool {
			for {
				select {
				case x := <-feed.Entries:
					if w.Offer(x) {
						catchUp()
					}
				case <-feed.Lost:
					catchUp()
				default:
					return len(w.Keys()) >= want
				}
			}
		})
	}
	follow(100)
	c.CutHost(t, "c", 0)
	follow(100)
	c.CutHost(t, "c", 0, 1)
	follow(100)
	c.HealHost(t, "c")
	c.SilenceHost(t, "c", 2)
	if _, err := e.Last(t.Context(), s, true); err != nil { // whoever follows asks from time to time
		t.Error(err)
	}
	follow(100)
	l.check(t)
}

// A bit that changes on the disk of one server is never read as truth, and an attestation or a scrub finds it
// unless the server has repaired it.
func TestABitChanges(t *testing.T) {
	suite.Matrix(t, slow)
	found := 0
	for _, v := range []struct{ follower, clean bool }{{true, true}, {false, false}} {
		c := servers.Start(t)
		l := startLoad(t, c, "a")
		l.progress(t, 600)
		l.stop()
		l.wg.Wait()
		more(t, c.Open(t, "b"), l.shard()) // so that the damaged file is not the last one, which is looked at
		agree(t, c)
		n := c.Leader(t, l.shard())
		if v.follower {
			n = (n + 1) % 3
		}
		if v.clean { // what it knows of its files is on the disk then, and it does not look at them when it starts
			c.Shut(n)
		} else {
			c.Kill(n)
		}
		file := c.Flip(t, n, streamOf(l.shard()), "1.blk", 0.01)
		t.Log(file)
		if index := filepath.Join(filepath.Dir(file), "index.db"); !v.clean { // it may have written this just before it was killed
			if err := os.Remove(index); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		c.Restart(t, n)
		m := c.Open(t, "maintenance")
		await(t, "all three answer", func() bool {
			a, err := m.Attest(t.Context(), l.shard())
			return err == nil && len(a.Replicas) == 3
		})
		j, whole, short, refused := l.journals[0], 0, 0, 0
		e := c.Open(t, "z")
		for range 40 { // any replica may answer, at random
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			keys, err := enginetest.Journal(ctx, e, j.subject)
			cancel()
			wrong := j.history.Check(keys)
			switch {
			case err == nil && len(wrong) == 0:
				whole++
			case err == nil && len(slices.DeleteFunc(slices.Clone(wrong), lost)) == 0:
				short++ // the end of the journal alone: no chain shows that, and Attest does
			case err == nil:
				t.Errorf("a journal was read as whole that is not: %q", wrong)
			case errors.Is(err, enginetest.ErrChain), errors.Is(err, engine.ErrUnknown), errors.Is(err, engine.ErrUnreachable):
				refused++
			default:
				t.Error(err)
			}
		}
		a, err := m.Attest(t.Context(), l.shard())
		t.Logf("%+v, server %d: read whole %d times, without its end %d times, refused %d times; attested: %v, %v", v, n, whole, short, refused, a.Error(), err)
		if refused+short > 0 && err == nil && a.Error() == nil { // a server that counts as if nothing was: a scrub reads it
			at := fmt.Sprintf("n%d", n+1)
			wrong, _, err := scrub.Stream(t.Context(), m, []string{"n1", "n2", "n3"}, streamOf(l.shard()), 1, a.Replicas[0].Last, scrub.Options{})
			if !slices.ContainsFunc(wrong, func(f scrub.Finding) bool { return f.Server == at }) {
				t.Errorf("a replica that is not whole is attested, and a scrub finds %v, %v", wrong, err)
			}
		}
		if refused+short > 0 || err == nil && a.Error() != nil {
			found++
		}
		m.Close()
	}
	if found == 0 {
		t.Error("the servers repaired all: this says nothing about what a reader does")
	}
}

// lost reports whether a sentence of Check is of a record that is missing.
func lost(wrong string) bool { return strings.HasSuffix(wrong, "was acknowledged and is lost") }

// more appends some megabytes to another journal of a shard.
func more(t *testing.T, e engine.Engine, shard int) {
	t.Helper()
	s := enginetest.NewSession("u1001")
	for s.Shard() != shard {
		s = enginetest.NewSession("u1001")
	}
	payload, last := make([]byte, 400<<10), uint64(0)
	for range 30 {
		rand.Read(payload)
		seq, err := enginetest.Append(t.Context(), e, s, last, rand.Text(), nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		last = seq
	}
}

func streamOf(shard int) string {
	const hex = "0123456789abcdef"
	return "CTXJ_0" + hex[shard:shard+1]
}
