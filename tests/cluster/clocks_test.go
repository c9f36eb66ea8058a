package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/rows"
	"github.com/ctxfs/ctxfs/cluster/tend"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// TestClocksThatAreWrong has servers and hosts whose clocks are off by an hour, and are set by two while they run:
// times in rows alone show it.
func TestClocksThatAreWrong(t *testing.T) {
	suite.Matrix(t, slow)
	early, late := harness.NewClock(t, -time.Hour), harness.NewClock(t, time.Hour)
	c := servers.Start(t, harness.NewClock(t, time.Hour), harness.NewClock(t, -time.Hour))
	a := mounts.New(t, c, "a", harness.Options{Clock: late})
	b := mounts.New(t, c, "b", harness.Options{Clock: early})
	mounts.Run(t, a, b)
	here := a.Session(t, harness.Self(), "coder", "s1")
	mustAppend(t, here, "of a")
	there := b.Await(t, here)
	mustAppend(t, there, "of b")
	sameOnBoth(t, here, there)
	own := b.Session(t, harness.Self(), "coder", "s2")
	mustAppend(t, own, "of b, which is its home")
	if x, y := arrivals(t, here), arrivals(t, own); len(x) != 2 || len(y) != 1 || x[0].Sub(y[0]) < time.Hour {
		t.Fatalf("the rows have the times %v and %v: this says nothing", x, y)
	}
	appendOnBoth(t, here, there, 20)

	early.Set(t, time.Hour)
	late.Set(t, -time.Hour)
	appendOnBoth(t, here, there, 20)
	for _, h := range []*mounts.Host{a, b} {
		harness.Eventually(t, "a host that is up to date", func() bool {
			status := statusOf(t, h)
			behind, err := strconv.Atoi(status["cluster_behind_seconds"])
			if err != nil || behind < 0 || behind > 3000 { // by the clocks it were 7,200
				t.Fatalf("the status after the clock was set is %v", status)
			}
			return status["cluster_state"] == "ok"
		})
	}

	// Who is cut off knows since when, whatever its clock says.
	for _, h := range []*mounts.Host{a, b} {
		x := h.Of(here)
		c.CutHost(t, h.Name)
		harness.Eventually(t, "user.ctx.behind", func() bool {
			behind := attribute("user.ctx.behind", x.Path(ctxabi.MessagesFile))
			if seconds, err := strconv.ParseFloat(behind, 64); behind != "" && (err != nil || seconds < 0 || seconds > 3000) {
				t.Fatalf("it is %q seconds behind", behind)
			}
			return behind != ""
		})
		c.HealHost(t, h.Name)
		harness.Eventually(t, "its end", func() bool { return attribute("user.ctx.behind", x.Path(ctxabi.MessagesFile)) == "" })
	}
	appendOnBoth(t, here, there, 5)

	began := time.Now()
	a.Kill()
	mustAppend(t, there, "while the other one is gone")
	t.Logf("an append after the other host was killed: %v", time.Since(began))
	a.Again(t)
	appendOnBoth(t, here, there, 5)
	parkWith(t, c, here, there)
}

// appendOnBoth has two hosts append at a time, and holds what they have against each other.
func appendOnBoth(t *testing.T, x, y *harness.Session, n int) {
	t.Helper()
	before, err := texts(x)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, s := range []*harness.Session{x, y} {
		all.Go(func() {
			for i := range n {
				if err := appendTo(s, fmt.Sprint(s.Dir, " ", len(before), " ", i)); err != nil {
					t.Errorf("%s: %v\n%s", s.Dir, err, s.Read("context/errors.jsonl"))
				}
			}
		})
	}
	all.Wait()
	sameOnBoth(t, x, y)
	after, err := texts(y)
	if err != nil || len(after) != len(before)+2*n {
		t.Fatalf("%d and %d messages are %d, %v", len(before), 2*n, len(after), err)
	}
}

// parkWith has a maintainer whose clock is set park a session, and checks that it goes on on both hosts.
func parkWith(t *testing.T, c *servers.Cluster, here, there *harness.Session) {
	t.Helper()
	e := c.Open(t, "maintenance")
	o := tend.Options{Engine: e, Host: "maintenance", Dir: t.TempDir(), Handlers: rows.New(e).Handlers(), ParkAfter: 30 * time.Minute, CollectAfter: 30 * time.Minute}
	ahead := time.Duration(0)
	o.Now = func() time.Time { return time.Now().Add(ahead) }
	// Each of them looks at once. One fails where an append to the owner's journal comes in between, or a server is behind.
	round := func() (r tend.Report) {
		harness.Eventually(t, "a round of the maintainer", func() (done bool) {
			var err error
			r, err = tend.New(o).Round(t.Context())
			return err == nil
		})
		return r
	}
	for _, ahead = range []time.Duration{0, time.Hour, -time.Hour, 365 * 24 * time.Hour, time.Hour} {
		if r := round(); r.Parked+r.Collected+r.Ended > 0 {
			t.Fatalf("a maintainer whose clock was set by %v: %+v", ahead, r)
		}
	}
	o.ParkAfter = time.Millisecond
	harness.Eventually(t, "sessions that are parked", func() bool {
		round()
		for shard := range engine.Shards {
			if list, err := e.Journals(t.Context(), shard); err != nil || len(list) > 0 {
				return false
			}
		}
		return true
	})
	appendOnBoth(t, here, there, 5)
}

// arrivals returns the times in the rows of a session's messages.
func arrivals(t *testing.T, s *harness.Session) (list []time.Time) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.InStore(), log.ArrivalsFile(ctxabi.MessagesFile)))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		row, ok := arrival.ParseRow([]byte(strings.TrimSuffix(line, "\n")))
		if !ok {
			t.Fatalf("the row %q cannot be read", line)
		}
		list = append(list, time.Unix(0, row.At))
	}
	return list
}

// statusOf returns what a mount says of itself.
func statusOf(t *testing.T, h *mounts.Host) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.Dir, "status"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		all[name] = value
	}
	return all
}
