package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// opened opens an engine, closes it, and returns the reasons why the cluster is unsafe, and the error of Open.
func opened(t *testing.T, o nats.Options) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := nats.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.Unsafe(), nil
}

// keeper is a client of the maintenance user.
func keeper(t *testing.T, c *servers.Cluster) *client.Conn {
	t.Helper()
	o := c.Options(t, "maintenance")
	k, err := client.Connect(o.Servers[0], append(o.Auth, client.CustomInboxPrefix(nats.Inbox("maintenance")))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

// request sends a request of the maintenance user and fails the test if it is not carried out.
func request(t *testing.T, k *client.Conn, m *client.Msg) []byte {
	t.Helper()
	answer, err := k.RequestMsg(m, 20*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", m.Subject, err)
	}
	var failed struct {
		Error *struct{ Description string } `json:"error"`
	}
	if json.Unmarshal(answer.Data, &failed) == nil && failed.Error != nil {
		t.Fatalf("%s: %s", m.Subject, failed.Error.Description)
	}
	return answer.Data
}

// Hosts read the statement of the maintenance user about servers that they cannot ask. They refuse an unsafe
// cluster, or name the reasons as long as they run.
func TestAnUnsafeClusterIsRefused(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	k := keeper(t, c)
	const key = "$KV.CTX_META.statement"
	get := func() *client.Msg {
		m, err := k.Request("$JS.API.DIRECT.GET.KV_CTX_META."+key, nil, 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	good := get()
	var s nats.Statement
	if err := json.Unmarshal(good.Data, &s); err != nil || len(s.Servers) != 3 || s.Problems != nil || len(s.Created) != 20 || s.Store == "" {
		t.Fatalf("%s, %v", good.Data, err)
	}
	for _, server := range s.Servers {
		if !server.SyncAlways {
			t.Errorf("%+v does not sync always", server)
		}
	}
	s.Problems = []string{"server n2 does not sync always"}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	request(t, k, &client.Msg{Subject: key, Data: data, Header: client.Header{
		"Nats-Msg-Id": {rand.Text()}, "Nats-Expected-Stream": {"KV_CTX_META"}, "Nats-Expected-Last-Subject-Sequence": {good.Header.Get("Nats-Sequence")},
	}})
	for _, user := range []string{"a", "laptop"} {
		o := c.Options(t, user)
		if user == "laptop" {
			o.Owners = []string{servers.LaptopOwner}
		}
		await(t, "a refusal", func() bool { // a replica may be behind
			_, err := opened(t, o)
			return errors.Is(err, engine.ErrUnsafe) && strings.Contains(err.Error(), s.Problems[0])
		})
		o.Unsafe = true
		if why, err := opened(t, o); err != nil || !slices.Equal(why, s.Problems) {
			t.Errorf("%s: unsafe because of %q, %v", user, why, err)
		}
	}
	o := c.Options(t, "maintenance")
	o.Unsafe, o.Timeout = true, 5*time.Second
	m, err := nats.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if s, err := m.Certify(t.Context()); err != nil || s.Problems != nil {
		t.Errorf("certified: %q, %v", s.Problems, err)
	}
	await(t, "a host is let in", func() bool { why, err := opened(t, c.Options(t, "a")); return err == nil && why == nil })

	// A stream with other settings, and one that was made anew.
	config := func(name string) map[string]any {
		var info struct {
			Config map[string]any `json:"config"`
		}
		if err := json.Unmarshal(request(t, k, &client.Msg{Subject: "$JS.API.STREAM.INFO." + name}), &info); err != nil {
			t.Fatal(err)
		}
		return info.Config
	}
	weak := config("CTXJ_03")
	weak["discard"], weak["max_msgs"] = "old", 1000
	body, err := json.Marshal(weak)
	if err != nil {
		t.Fatal(err)
	}
	request(t, k, &client.Msg{Subject: "$JS.API.STREAM.UPDATE.CTXJ_03", Data: body})
	if s, err := m.Certify(t.Context()); err != nil || len(s.Problems) != 2 || !strings.Contains(s.Problems[0], "CTXJ_03") {
		t.Errorf("certified: %q, %v", s.Problems, err)
	}
	whole, err := json.Marshal(config("CTXJ_04"))
	if err != nil {
		t.Fatal(err)
	}
	request(t, k, &client.Msg{Subject: "$JS.API.STREAM.DELETE.CTXJ_04"})
	e := engine.Subject{Owner: "u1", Session: sessionOf(4)}
	if _, err := m.Append(t.Context(), e, 0, rand.Text(), nil, nil); !errors.Is(err, engine.ErrGone) {
		t.Errorf("an append to a stream that is gone: %v", err)
	}
	request(t, k, &client.Msg{Subject: "$JS.API.STREAM.CREATE.CTXJ_04", Data: whole})
	if _, err := m.Certify(t.Context()); !errors.Is(err, engine.ErrGone) {
		t.Errorf("certified with a stream that was made anew: %v", err)
	}
	if _, err := opened(t, o); !errors.Is(err, engine.ErrGone) {
		t.Errorf("opened with a stream that was made anew: %v", err)
	}
}

// sessionOf returns a session of a shard.
func sessionOf(shard int) string {
	for i := 0; ; i++ {
		if s := fmt.Sprintf("%032x", i); (engine.Subject{Session: s}).Shard() == shard {
			return s
		}
	}
}

func TestWhoMayConnect(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := nats.Create(ctx, c.Options(t, "maintenance"), nats.Share{}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a second store in the same cluster: %v", err)
	}
	if _, err := nats.Create(ctx, c.Options(t, "a"), nats.Share{}); err == nil || errors.Is(err, engine.ErrUnsafe) {
		t.Errorf("a host makes streams: %v", err)
	}
	o := c.Options(t, "a")
	o.Auth = o.Auth[1:] // no key
	if _, err := opened(t, o); !errors.Is(err, engine.ErrDenied) {
		t.Errorf("without credentials: %v", err)
	}
	o = c.Options(t, "a")
	o.Auth = o.Auth[:1] // no certificate to trust
	short, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	if e, err := nats.Open(short, o); err == nil {
		e.Close()
		t.Error("a server is trusted whose certificate nobody has signed")
	}
	creationGoesOn(t, c)
}

// creationGoesOn has Create cut off, as a lost connection does, and called again: it goes on with streams in
// which nothing ever was, and never makes one anew beside others that have entries.
func creationGoesOn(t *testing.T, c *servers.Cluster) {
	t.Helper()
	k, o := keeper(t, c), c.Options(t, "maintenance")
	o.Timeout = 20 * time.Second
	remove := func(names ...string) {
		for _, name := range names {
			request(t, k, &client.Msg{Subject: "$JS.API.STREAM.DELETE." + name})
		}
	}
	remove("KV_CTX_META", "CTXJ_05", "KV_CTX_HOSTS")
	s, err := nats.Create(t.Context(), o, nats.Share{})
	if err != nil || len(s.Created) != 20 || s.Problems != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	e := c.Open(t, "b")
	if _, err := e.Append(t.Context(), engine.Subject{Owner: "u1", Session: sessionOf(3)}, 0, rand.Text(), nil, []byte("x")); err != nil {
		t.Fatal(err)
	}
	remove("KV_CTX_META")
	if _, err := nats.Create(t.Context(), o, nats.Share{}); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "CTXJ_03") {
		t.Errorf("a store is made beside entries of another: %v", err)
	}
	m, err := k.Request("$JS.API.STREAM.INFO.KV_CTX_META", nil, 20*time.Second)
	if err != nil || !strings.Contains(string(m.Data), "stream not found") {
		t.Errorf("%v: %s", err, m.Data)
	}
}
