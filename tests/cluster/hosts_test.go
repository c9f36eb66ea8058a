package cluster

import (
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// member is a host with a store.
type member struct {
	h *host.Host
	s *session.Store
	x *session.Session
}

var shared = ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}

// join returns a host of the cluster that follows the session shared, which has the id.
func join(t *testing.T, c *servers.Cluster, n *peerstest.Network, name, id string) *member {
	t.Helper()
	m := &member{h: host.New(host.Options{Name: name, Engine: c.Open(t, name), Peers: n.Host(name)})}
	var err error
	if m.s, err = session.Open(t.TempDir(), session.Options{Committer: m.h}); err != nil {
		t.Fatal(err)
	}
	m.h.Attach(m.s)
	t.Cleanup(func() {
		m.h.Close()
		if err := m.s.Close(); err != nil {
			t.Error(err)
		}
	})
	owner := disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
	if err = m.s.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: shared, Owner: owner, ID: id}); err == nil {
		m.x, err = m.s.Session(shared)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.Join(name, m.h)
	m.h.Follow(t.Context(), m.x)
	return m
}

// besideTheEngine appends records through a host, and as many entries of the same size through an engine
// alone, in turns, prints how long each took, and returns how many records there are.
func besideTheEngine(t *testing.T, e engine.Engine, m *member, text string) int {
	const count = 300
	bare, last := enginetest.NewSession("u1000"), uint64(0)
	for bare.Shard() != host.Subject(m.x).Shard() {
		bare = enginetest.NewSession("u1000")
	}
	var through, alone []time.Duration
	for i := range count {
		record := fmt.Appendf(nil, `{"role":"user","content":"%d %s"}`+"\n", i, text)
		start := time.Now()
		if _, err := m.x.Messages().Append(t.Context(), log.Batch{Data: record}); err != nil {
			t.Fatal(err)
		}
		through = append(through, time.Since(start))
		start = time.Now()
		seq, err := enginetest.Append(t.Context(), e, bare, last, rand.Text(), nil, record)
		if err != nil {
			t.Fatal(err)
		}
		alone, last = append(alone, time.Since(start)), seq
	}
	slices.Sort(through)
	slices.Sort(alone)
	t.Logf("one writer: p50 %v through a host, %v through the engine alone", through[count/2].Round(10*time.Microsecond), alone[count/2].Round(10*time.Microsecond))
	return count
}

// TestHostsShareASession has hosts append to one session at a time, prints how fast that is, and holds
// their copies against each other.
func TestHostsShareASession(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	n := peerstest.NewNetwork()
	id := strings.Repeat("5a", 16)
	hosts := []*member{join(t, c, n, "a", id), join(t, c, n, "b", id)}
	t.Logf("load of the machine: %s", harness.Load())
	text := strings.Repeat("x", 950)
	total := besideTheEngine(t, c.Open(t, "c"), hosts[0], text)
	for _, round := range []struct{ hosts, writers, each int }{{1, 1, 200}, {1, 64, 50}, {2, 4, 200}} {
		var mu sync.Mutex
		var times []time.Duration
		var all sync.WaitGroup
		begin := time.Now()
		for h, m := range hosts[:round.hosts] {
			for w := range round.writers {
				all.Go(func() {
					for i := range round.each {
						record := fmt.Appendf(nil, `{"role":"user","content":"%d %d %d %d %s"}`+"\n", round.writers, h, w, i, text)
						start := time.Now()
						if _, err := m.x.Messages().Append(t.Context(), log.Batch{Data: record}); err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						times = append(times, time.Since(start))
						mu.Unlock()
					}
				})
			}
		}
		all.Wait()
		took := time.Since(begin)
		count := round.hosts * round.writers * round.each
		total += count
		slices.Sort(times)
		at := func(p float64) time.Duration { return times[int(p*float64(len(times)-1))].Round(10 * time.Microsecond) }
		t.Logf("%d hosts, %2d writers each: %6.0f/s  p50 %v  p99 %v", round.hosts, round.writers, float64(count)/took.Seconds(), at(.5), at(.99))
	}
	var first string
	for _, m := range hosts {
		if err := m.h.Fresh(t.Context(), m.x, 0); err != nil {
			t.Fatal(err)
		}
		all, err := os.ReadFile(m.x.Dir() + "/" + ctxabi.MessagesFile)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(all)
		}
		if string(all) != first || strings.Count(string(all), "\n") != total {
			t.Errorf("a copy has %d records of %d, or others", strings.Count(string(all), "\n"), total)
		}
		if problems, err := check.Verify(t.Context(), m.s, shared); err != nil || len(problems) > 0 {
			t.Error(problems, err)
		}
		t.Logf("%+v", m.h.Stats())
	}
}
