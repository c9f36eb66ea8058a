package bench

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// rig is what is measured.
type rig struct {
	t     *testing.T
	c     *servers.Cluster
	hosts []*mounts.Host // "a" and "b"
	js    client.JetStreamContext
	pulls jetstream.JetStream // of the same client
	full  bool
	rows  []row
	n     int
}

func newRig(t *testing.T, full bool) *rig {
	t.Helper()
	c := servers.Start(t)
	b := &rig{t: t, c: c, hosts: mounts.Start(t, c, "a", "b"), full: full}
	const user = "maintenance" // who may make consumers as he likes
	o := c.Options(t, user)
	bare, err := client.Connect(strings.Join(o.Servers, ","), append(o.Auth, client.CustomInboxPrefix(nats.Inbox(user)),
		client.MaxReconnects(-1), client.ReconnectWait(100*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bare.Close)
	if b.js, err = bare.JetStream(); err != nil {
		t.Fatal(err)
	}
	if b.pulls, err = jetstream.New(bare); err != nil {
		t.Fatal(err)
	}
	return b
}

// times returns n in a full run, else a fifth of it.
func (b *rig) times(n int) int {
	if b.full {
		return n
	}
	return n / 5
}

// session makes a session on the first mount, and returns it as both mounts show it, and its journal.
func (b *rig) session() (here, there *harness.Session, s engine.Subject) {
	b.t.Helper()
	b.n++
	here = b.hosts[0].Session(b.t, harness.Self(), "coder", fmt.Sprint("s", b.n))
	there = b.hosts[1].Await(b.t, here)
	id, err := os.ReadFile(filepath.Join(here.InStore(), ".ctxfs", "id"))
	if err != nil {
		b.t.Fatal(err)
	}
	return here, there, host.SubjectOf(ctxabi.Ref{UID: here.UID}, strings.TrimSpace(string(id)))
}

// open opens the messages of a session for appending, n times.
func (b *rig) open(s *harness.Session, n int) (list []*os.File) {
	b.t.Helper()
	for range n {
		f, err := os.OpenFile(s.Path(ctxabi.MessagesFile), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { f.Close() })
		list = append(list, f)
	}
	return list
}

// padding makes a record 1 KiB long.
var padding = strings.Repeat("x", 950)

// record returns a record of 1 KiB.
func record(n int) []byte {
	return fmt.Appendf(nil, `{"role":"user","content":"%10d %s"}`+"\n", n, padding)
}

// beside returns a journal in the same shard as another one, so that the same server leads it.
func beside(s engine.Subject) string {
	for {
		if x := enginetest.NewSession("u1000"); x.Shard() == s.Shard() {
			return fmt.Sprintf("ctx.v1.j.%02x.%s.%s", x.Shard(), x.Owner, x.Session)
		}
	}
}

// publish appends a bare message with the sequence that it expects before it; again while the one before is
// under way.
func (b *rig) publish(subject string, payload []byte, last uint64, opts ...client.PubOpt) (uint64, error) {
	for {
		ack, err := b.js.PublishMsg(&client.Msg{Subject: subject, Data: payload},
			append(opts, client.MsgId(rand.Text()), client.ExpectLastSequencePerSubject(last))...)
		if failed, ok := errors.AsType[*client.APIError](err); ok && failed.ErrorCode == 10164 {
			continue
		}
		if err != nil {
			return 0, err
		}
		return ack.Sequence, nil
	}
}

// member is a host without a mount: what a mount's daemon asks.
type member struct {
	h *host.Host
	x *session.Session
}

// join returns a host of this process with a store of its own, in which the session with an id is. It does not
// follow it.
func (b *rig) join(e engine.Engine, name, id string) *member {
	b.t.Helper()
	m := &member{h: host.New(host.Options{Name: name, Engine: e, Peers: peerstest.NewNetwork().Host(name)})}
	s, err := session.Open(b.t.TempDir(), session.Options{Committer: m.h})
	if err != nil {
		b.t.Fatal(err)
	}
	m.h.Attach(s)
	b.t.Cleanup(func() {
		m.h.Close()
		s.Close()
	})
	ref := ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}
	owner := disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
	if err = s.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: ref, Owner: owner, ID: id}); err == nil {
		m.x, err = s.Session(ref)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// spread is how long something took, many times.
type spread []time.Duration

// at returns the time within which a share of them ended.
func (s spread) at(p float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	if !slices.IsSorted(s) {
		slices.Sort(s)
	}
	return s[int(p*float64(len(s)-1))]
}
