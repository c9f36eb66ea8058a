package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// TestManySessionsOnThreeHosts makes sessions on three hosts, appends to each on two of them, renames and removes
// some, and kills a host and starts it again. All hosts show the same, and what that takes is printed.
// CTXFS_SESSIONS is how many: 150 unless it is set, and 10,000 with CTXFS_SOAK=1, which takes a -timeout of an hour.
func TestManySessionsOnThreeHosts(t *testing.T) {
	suite.Matrix(t, slow)
	n := 150
	if suite.Soak() {
		n = 10_000
	}
	if s := os.Getenv("CTXFS_SESSIONS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 2*crowdMoved {
			t.Fatalf("CTXFS_SESSIONS=%s is not a number of at least %d", s, 2*crowdMoved)
		}
	}
	c := newCrowd(t, n)
	c.figures(t, "nothing")
	c.each(t, "made, with a message each", func(k int) error {
		x := c.session(k, k)
		if err := os.Mkdir(x.Dir, 0o700); err != nil {
			return err
		}
		return appendMessage(x, c.text(k, 0))
	})
	c.listed(t, "after they were made", 0, 1, 2)
	c.each(t, "with two messages more of another host", func(k int) error {
		x := c.session(k+1, k)
		return errors.Join(appendMessage(x, c.text(k, 1)), appendMessage(x, c.text(k, 2)))
	})
	c.figures(t, "written")
	c.same(t)
	c.move(t)
	c.listed(t, "after some were moved and removed", 0, 1, 2)
	c.same(t)
	c.figures(t, "read")
	c.rest(t)
	c.hosts[0].Kill()
	began := time.Now()
	c.hosts[0].Again(t)
	t.Logf("a host that was killed is mounted again after %v", since(began))
	c.listed(t, "after a host was killed", 0)
	t.Logf("it lists all %v after it was started", since(began))
	c.same(t)
	c.figures(t, "restarted")
}

const (
	crowdAgents  = 10
	crowdMoved   = 10 // sessions that are renamed, and as many are removed
	crowdSample  = 12 // sessions that are compared
	crowdWriters = 4  // at a time on each host
)

// crowd is many sessions of one user on three hosts.
type crowd struct {
	servers *servers.Cluster
	hosts   []*mounts.Host
	names   map[int]string // of the sessions that there are, by their numbers
}

// newCrowd starts servers and hosts, and makes the agents. A host waits long for the cluster: an election is no failure.
func newCrowd(t *testing.T, n int) *crowd {
	t.Helper()
	c := &crowd{servers: servers.Start(t), names: map[int]string{}}
	for _, name := range []string{"a", "b", "c"} {
		c.hosts = append(c.hosts, mounts.New(t, c.servers, name, harness.Options{}, "--cluster-timeout", harness.Patience.String()))
	}
	mounts.Run(t, c.hosts...)
	for k := range n {
		c.names[k] = fmt.Sprintf("s%05d", k)
	}
	for k := range crowdAgents {
		if err := os.MkdirAll(c.session(0, k).AgentHome(), 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range c.hosts {
			harness.Eventually(t, "an agent on each host", func() bool {
				_, err := os.Stat(c.session(i, k).AgentHome())
				return err == nil
			})
		}
	}
	return c
}

// session returns a session as a host shows it. Numbers of hosts begin again behind the last one.
func (c *crowd) session(host, k int) *harness.Session {
	m := c.hosts[host%len(c.hosts)].Mount
	s := &harness.Session{Mount: m, UID: harness.Self(), Agent: agentOf(k), Name: c.names[k]}
	s.Dir = filepath.Join(c.sessions(host, k), s.Name)
	return s
}

// sessions returns the directory in which a session is.
func (c *crowd) sessions(host, k int) string {
	return filepath.Join(c.hosts[host%len(c.hosts)].Dir, "home", fmt.Sprint(harness.Self()), ctxabi.AgentDir, agentOf(k), ctxabi.SessionDir)
}

func agentOf(k int) string { return fmt.Sprint("agent", k%crowdAgents) }

// text returns the content of a message of a session.
func (c *crowd) text(k, i int) string { return fmt.Sprintf("message %d of session %d", i, k) }

// each calls do for all sessions, several at a time, and prints how long that took.
func (c *crowd) each(t *testing.T, what string, do func(k int) error) {
	t.Helper()
	began := time.Now()
	var next atomic.Int64
	var all sync.WaitGroup
	for range crowdWriters * len(c.hosts) {
		all.Go(func() {
			for k := int(next.Add(1)) - 1; k < len(c.names) && !t.Failed(); k = int(next.Add(1)) - 1 {
				if err := do(k); err != nil {
					t.Errorf("session %d: %v", k, err)
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	took := time.Since(began)
	t.Logf("%d sessions %s: %v, %.0f/s; load %s", len(c.names), what, took.Round(time.Millisecond), float64(len(c.names))/took.Seconds(), harness.Load())
}

// listed waits until hosts list all sessions and no others, and prints how long the last reading of all names took.
func (c *crowd) listed(t *testing.T, when string, hosts ...int) {
	t.Helper()
	want := map[string]bool{}
	for k := range c.names {
		want[filepath.Join(agentOf(k), c.names[k])] = true
	}
	for _, i := range hosts {
		began, last := time.Now(), time.Duration(0)
		harness.Eventually(t, "the names of all sessions "+when, func() bool {
			from := time.Now()
			list, err := c.list(i)
			last = time.Since(from)
			return err == nil && maps.Equal(list, want)
		})
		t.Logf("host %s lists %d sessions %s: all after %v, the last look took %v", c.hosts[i].Name, len(want), when, since(began), last.Round(time.Millisecond))
	}
}

// list returns the sessions that a host lists.
func (c *crowd) list(host int) (map[string]bool, error) {
	list := map[string]bool{}
	for k := range crowdAgents {
		entries, err := os.ReadDir(c.sessions(host, k))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			list[filepath.Join(agentOf(k), e.Name())] = true
		}
	}
	return list, nil
}

// same takes some sessions at random and holds the records, settings and packs of all hosts against each other, and the records
// against what was written.
func (c *crowd) same(t *testing.T) {
	t.Helper()
	began := time.Now()
	all := slices.Sorted(maps.Keys(c.names))
	r := rand.New(rand.NewPCG(suite.Seed(), uint64(len(all))))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, k := range all[:crowdSample] {
		x := c.session(0, k)
		want := messageOf(c.text(k, 0)) + messageOf(c.text(k, 1)) + messageOf(c.text(k, 2))
		harness.Eventually(t, fmt.Sprintf("these messages of session %d:\n%s", k, want), func() bool {
			got, err := os.ReadFile(x.Path(ctxabi.MessagesFile))
			return err == nil && string(got) == want
		})
		for i := range c.hosts[1:] {
			sameOnBoth(t, x, c.session(i+1, k))
		}
		harness.Eventually(t, fmt.Sprint("equal packs of session ", k), func() bool {
			ids := map[string]bool{}
			for i := range c.hosts {
				ids[packID(c.session(i, k))] = true
			}
			return len(ids) == 1 && !ids[""]
		})
	}
	t.Logf("%d sessions were compared in %v", crowdSample, since(began))
}

// packID returns the id of the pack of a session, "" if it cannot be read.
func packID(x *harness.Session) string {
	var pack struct {
		ID string `json:"pack_id"`
	}
	if b, err := os.ReadFile(x.Path(ctxabi.PackJSONFile)); err != nil || json.Unmarshal(b, &pack) != nil {
		return ""
	}
	return pack.ID
}

// move renames some sessions on the host b and removes others, and waits until no host finds any of them under its old name.
func (c *crowd) move(t *testing.T) {
	t.Helper()
	began := time.Now()
	var gone []*harness.Session
	step := len(c.names) / (2 * crowdMoved)
	for n := range 2 * crowdMoved {
		k := n * step
		x := c.session(1, k)
		for i := range c.hosts {
			gone = append(gone, c.session(i, k))
		}
		var err error
		if n%2 == 0 {
			c.names[k] = "moved-" + x.Name
			err = os.Rename(x.Dir, c.session(1, k).Dir)
		} else {
			delete(c.names, k)
			err = unix.Setxattr(x.Dir, ctxabi.RemoveAttr, []byte(x.Name), 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d sessions renamed and %d removed in %v", crowdMoved, crowdMoved, since(began))
	for _, x := range gone {
		harness.Eventually(t, "the end of "+x.Dir, func() bool {
			_, err := os.Stat(x.Dir)
			return errors.Is(err, syscall.ENOENT)
		})
	}
	t.Logf("no host finds them under their old names after %v", since(began))
}

func since(t time.Time) time.Duration { return time.Since(t).Round(time.Millisecond) }
