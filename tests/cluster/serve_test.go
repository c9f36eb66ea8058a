package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/keep"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// whole waits until a machine sees no problem, and returns what it sees.
func whole(t *testing.T, m *servers.Made, machine string) (s keep.Status) {
	t.Helper()
	await(t, "a cluster without problems, as "+machine+" sees it", func() bool {
		s = m.Status(t, machine)
		return len(s.Problems) == 0
	})
	return s
}

// named waits until a machine names a problem, and returns what it sees.
func named(t *testing.T, m *servers.Made, machine, problem string) (s keep.Status) {
	t.Helper()
	await(t, machine+" names "+problem, func() bool {
		s = m.Status(t, machine)
		return strings.Contains(strings.Join(s.Problems, "\n"), problem)
	})
	return s
}

// connect opens the engine of a machine's host until the test ends.
func connect(t *testing.T, m *servers.Made, machine string) (*nats.Engine, error) {
	t.Helper()
	o, err := m.Machine(t, machine).Host()
	if err != nil {
		t.Fatal(err)
	}
	o.Timeout = 10 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	e, err := nats.Open(ctx, o)
	if err == nil {
		t.Cleanup(func() { e.Close() })
	}
	return e, err
}

// put appends an entry to a new journal of an owner.
func put(t *testing.T, e *nats.Engine, owner string) error {
	t.Helper()
	_, err := e.Append(t.Context(), engine.Subject{Owner: owner, Session: sessionOf(len(rand.Text()) % 16)}, 0, rand.Text(), nil, []byte("x"))
	return err
}

// What an operator does, from nothing to a cluster that loses a machine for good.
func TestAClusterIsSetUpAndLosesAMachine(t *testing.T) {
	suite.Matrix(t, slow)
	t.Parallel()
	m := servers.Make(t, "--host", "laptop=u1000")
	if s := m.Status(t, "n2"); s.Store != "" || !strings.Contains(strings.Join(s.Problems, "\n"), "no quorum: 0 of 3") {
		t.Errorf("before anything runs: %+v", s)
	}
	m.Serve(t, []int{0, 1})
	named(t, m, "n2", "there is no store yet")
	m.Serve(t, []int{2})
	s := whole(t, m, "n1")
	if s.Store == "" || s.Attest == nil || s.Unsafe != nil || len(s.Servers) != 3 || len(s.Streams) != 20 {
		t.Fatalf("%+v", s)
	}
	for _, x := range s.Servers {
		if !x.Answers || !x.SyncAlways || x.Version == "" {
			t.Errorf("%+v", x)
		}
	}
	for _, x := range s.Streams {
		if x.Leader == "" || len(x.Replicas) != 3 {
			t.Errorf("%+v", x)
		}
	}
	nothingIsForOthers(t, m.Dir)
	hostsReachTheirOwners(t, m)
	hostsComeAndGo(t, m)

	m.Kill(1) // the server that it started goes with it
	named(t, m, "n1", "server n2 at ")
	if out, err := m.Try("n3", "status"); err == nil || !strings.Contains(out, "streams: 2 of 3 replicas answer") {
		t.Errorf("%v:\n%s", err, out)
	}
	e, err := connect(t, m, "n3")
	if err == nil {
		err = put(t, e, "u7")
	}
	if err != nil {
		t.Errorf("an append while one of three servers is lost: %v", err)
	}
	if err := os.RemoveAll(m.Machine(t, "n2").Dir()); err != nil {
		t.Fatal(err)
	}
	m.Run(t, "n1", "token", "--tokens", filepath.Dir(m.Token("n2")), "n2")
	m.Join(t, "n2")
	m.Serve(t, []int{1})
	after := whole(t, m, "n2")
	if after.Store != s.Store {
		t.Errorf("the store was %s and is %s", s.Store, after.Store)
	}
	entries := uint64(0)
	for _, x := range after.Streams {
		for _, r := range x.Replicas {
			if r.Server == "n2" && strings.HasPrefix(x.Name, "CTXJ") {
				entries += r.Entries
			}
		}
	}
	if entries < 2 {
		t.Errorf("the new machine has %d entries", entries)
	}
	m.Shut(0)
	log, err := os.ReadFile(m.Log(0))
	if err != nil || strings.Count(string(log), "the streams of the cluster are made") != 1 || strings.Contains(string(log), "SU") && strings.Contains(string(log), secret(t, m)) {
		t.Errorf("%v: %s", err, log)
	}
}

// secret returns a secret key of the cluster.
func secret(t *testing.T, m *servers.Made) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.Machine(t, "n1").Dir(), "maintenance.seed"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// nothingIsForOthers looks at the modes of all files but the entries, whose directory is closed.
func nothingIsForOthers(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "store" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err == nil && p != dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", p, info.Mode())
		}
		files++
		return err
	})
	if err != nil || files < 30 {
		t.Errorf("%d files, %v", files, err)
	}
}

// hostsReachTheirOwners tries what hosts may do, and who is no host.
func hostsReachTheirOwners(t *testing.T, m *servers.Made) {
	t.Helper()
	m.Join(t, "laptop")
	whole(t, m, "laptop")
	e, err := connect(t, m, "laptop")
	if err != nil {
		t.Fatal(err)
	}
	if err := put(t, e, "u1000"); err != nil {
		t.Errorf("an append to the laptop's owner: %v", err)
	}
	if err := put(t, e, "u1001"); !errors.Is(err, engine.ErrDenied) {
		t.Errorf("an append to another owner: %v", err)
	}
	o, err := m.Machine(t, "laptop").Host()
	if err != nil {
		t.Fatal(err)
	}
	for what, auth := range map[string][]client.Option{"no certificate to trust": o.Auth[:1], "no key": o.Auth[1:]} {
		if c, err := client.Connect(o.Servers[0], auth...); err == nil {
			c.Close()
			t.Errorf("%s: connected", what)
		}
	}
}

// hostsComeAndGo adds a host while the cluster runs, and takes its key away again.
func hostsComeAndGo(t *testing.T, m *servers.Made) {
	t.Helper()
	m.Run(t, "n1", "token", "--owners", "u1001", "--tokens", filepath.Dir(m.Token("phone")), "phone")
	m.Join(t, "phone")
	whole(t, m, "phone")
	e, err := connect(t, m, "phone")
	if err == nil {
		err = put(t, e, "u1001")
	}
	if err != nil {
		t.Errorf("an append of a host that came later: %v", err)
	}
	m.Run(t, "n1", "token", "--revoke", "phone")
	await(t, "no server accepts the host", func() bool {
		s := m.Status(t, "phone")
		return !slices.ContainsFunc(s.Servers, func(x keep.Server) bool { return x.Answers })
	})
	if out, err := m.Try("n1", "token", "--revoke", "phone"); err == nil {
		t.Errorf("revoked twice: %s", out)
	}
}

// A stream that does not keep what it must is named, and hosts refuse the cluster. What an operator
// accepts is named for ever.
func TestWhatAClusterRanWithoutIsNamedForEver(t *testing.T) {
	suite.Matrix(t, slow)
	t.Parallel()
	m := servers.Make(t)
	m.Serve(t, []int{0, 1, 2})
	whole(t, m, "n1")
	o, err := m.Machine(t, "n1").Maintenance()
	if err != nil {
		t.Fatal(err)
	}
	k, err := client.Connect(strings.Join(o.Servers, ","), append(o.Auth, client.CustomInboxPrefix(nats.Inbox("maintenance")))...)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	var info struct {
		Config map[string]any `json:"config"`
	}
	if err := json.Unmarshal(request(t, k, &client.Msg{Subject: "$JS.API.STREAM.INFO.CTXJ_03"}), &info); err != nil {
		t.Fatal(err)
	}
	update := func(discard string) {
		info.Config["discard"] = discard
		body, err := json.Marshal(info.Config)
		if err != nil {
			t.Fatal(err)
		}
		request(t, k, &client.Msg{Subject: "$JS.API.STREAM.UPDATE.CTXJ_03", Data: body})
	}
	update("old")
	const reason = "stream CTXJ_03: discard is old instead of new"
	if s := named(t, m, "n1", reason); s.Unsafe != nil {
		t.Errorf("nobody has accepted it: %+v", s.Unsafe)
	}
	if _, err := connect(t, m, "n2"); !errors.Is(err, engine.ErrUnsafe) || !strings.Contains(err.Error(), reason) {
		t.Errorf("a host opens the cluster: %v", err)
	}
	await(t, "an alarm", func() bool {
		for i := range 3 {
			if log, _ := os.ReadFile(m.Log(i)); strings.Contains(string(log), "ALARM: "+reason) {
				return true
			}
		}
		return false
	})
	for i := range 3 {
		m.Shut(i)
		m.Serve(t, []int{i}, "--unsafe")
	}
	await(t, "what is accepted is named", func() bool { s := m.Status(t, "n2"); return s.Unsafe != nil })
	update("new")
	for _, machine := range []string{"n1", "n2"} {
		s := whole(t, m, machine)
		if s.Unsafe == nil || !slices.Contains(s.Unsafe.Reasons, reason) {
			t.Errorf("%s: %+v", machine, s.Unsafe)
		}
	}
	if out := m.Run(t, "n3", "status"); !strings.Contains(out, "UNSAFE: since ") || !strings.Contains(out, reason) {
		t.Errorf("%s", out)
	}
	if out := m.Run(t, "n3", "status", "--metrics"); !strings.Contains(out, "\nctxfs_cluster_ran_unsafe 1\n") || !strings.Contains(out, "\nctxfs_cluster_problems 0\n") {
		t.Errorf("%s", out)
	}
}
