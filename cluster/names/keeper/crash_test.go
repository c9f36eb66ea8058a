package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// errDead is what a keeper meets that was killed.
var errDead = errors.New("killed")

// dieAt makes the keeper of a host fail at its n-th change of the disk from now on, and at all later ones; done
// reports whether it came so far.
func (h *host) dieAt(n int) (died func() bool) {
	count := 0
	h.k.step = func(string) error {
		if count++; count >= n {
			return errDead
		}
		return nil
	}
	return func() bool { return count >= n }
}

// changes are what a host has to make true that was away: all kinds of it, with names that are used again.
var changes = []names.Op{
	rename("v", "s1", "v", "t"), rename("v", "s2", "v", "s1"), rename("v", "t", "v", "s2"),
	rename("x", "s1", "x", "t"), rename("x", "s2", "x", "s1"), rename("x", "t", "x", "s2"),
	rename("x", "", "t", ""), rename("y", "", "x", ""), rename("t", "", "y", ""),
	names.RemoveName{Agent: "z", All: true}, names.CreateAgent{Agent: "z", Owner: names.Owner(asOwner)},
	names.CreateSession{Agent: "z", Session: "s1", ID: fmt.Sprintf("%032x", 7), Owner: names.Owner(asOwner)},
	names.RemoveName{Agent: "y", Session: "s1"}, rename("x", "s1", "y", "s1"), rename("y", "", "w", ""), names.CreateAgent{Agent: "y", Owner: names.Owner(asOwner)},
	names.ChangeLink{Link: names.Link{Op: names.Move, Path: "agent/x/memory/m", To: "agent/x/memory/n"}},
	names.ChangeLink{Link: names.Link{Op: names.Symlink, Path: "agent/x/memory/m", Target: "n"}},
	mkdir("agent/z/memory"), mkdir("agent/z/memory/d"),
}

// A host that is killed at any change of its disk, once or twice, shows what others do when it is back.
func TestKilledAnywhere(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a := newHost(t, servers, dir, "a")
	for _, agent := range []string{"v", "x", "y", "z"} {
		a.create(t, agent, "s1")
		a.create(t, agent, "s2")
		a.commit(t, mkdir("agent/"+agent+"/memory"))
		a.save(t, "agent/"+agent+"/memory/m", agent)
		a.save(t, "agent/"+agent+"/r/base.yaml", "recipe")
	}
	var hosts []*host
	for i := range 60 {
		h := newHost(t, servers, dir, fmt.Sprint("h", i))
		h.enter(t)
		h.put(t, "agent/x/scratch", "of this host")
		hosts = append(hosts, h)
	}
	for _, op := range changes {
		a.commit(t, op)
	}
	a.save(t, "agent/x/memory/n", "new")
	places, twice := 0, 0
	for i, h := range hosts {
		died := h.dieAt(1 + i)
		err := h.k.Enter(t.Context(), user)
		if !died() {
			if err != nil || i < 5 {
				t.Fatalf("there were %d places: %v", i, err)
			}
			break
		}
		places++
		if !errors.Is(err, errDead) {
			t.Fatalf("killed at %d: %v", i, err)
		}
		h.kill(t)
		died = h.dieAt(1 + i%11)
		if err := h.k.Enter(t.Context(), user); died() {
			if twice++; !errors.Is(err, errDead) {
				t.Fatal(err)
			}
		}
		h.kill(t)
		h.enter(t)
		same(t, servers, h)
		if data, _ := os.ReadFile(h.file("agent/w/scratch")); string(data) != "of this host" {
			t.Errorf("killed at %d: an agent's home was not renamed as a whole", i)
		}
		if t.Failed() {
			t.Fatalf("killed at %d", i)
		}
	}
	if places < 5 || twice < 3 {
		t.Errorf("it was killed at %d places, and twice at %d", places, twice)
	}
}

// The copy of a journal may be lost or damaged: what it had is read again, and nothing is done twice.
func TestTheCopyIsNoTruth(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	for i := range 5 {
		a.create(t, "x", fmt.Sprint("s", i))
	}
	a.commit(t, mkdir("agent/x/memory"))
	b.enter(t)
	if err := b.k.Close(); err != nil { // so that there is a state, too
		t.Fatal(err)
	}
	b.store.Close()
	b.start(t)
	a.save(t, "agent/x/memory/m", "one")
	a.commit(t, rename("x", "", "y", ""))
	b.enter(t)
	base := filepath.Join(b.dir, "cluster", names.SubjectOf(user).Owner)
	for i, spoil := range []func(data []byte) []byte{
		func(data []byte) []byte { return data[:len(data)-3] },
		func(data []byte) []byte { return data[:len(data)/2] },
		func(data []byte) []byte { data[len(data)/3] ^= 1; return data },
		func(data []byte) []byte { return nil },
	} {
		for _, ext := range []string{entriesExt, stateExt} {
			a.save(t, "agent/y/memory/m", fmt.Sprint(i, ext))
			b.enter(t)
			data, err := os.ReadFile(base + ext)
			if err != nil || len(data) < 10 {
				t.Fatalf("%d bytes, %v", len(data), err)
			}
			if err := os.WriteFile(base+ext, spoil(data), 0o600); err != nil {
				t.Fatal(err)
			}
			b.kill(t)
			b.enter(t)
			same(t, servers, a, b)
			if t.Failed() {
				t.Fatalf("%s was spoilt in way %d", ext, i)
			}
			if err := b.k.Close(); err != nil {
				t.Fatal(err)
			}
			b.store.Close()
			b.start(t)
		}
	}
	os.Remove(base + entriesExt)
	os.Remove(base + stateExt)
	b.kill(t)
	b.enter(t)
	same(t, servers, a, b)
}

// withoutContent is an engine that cannot fetch objects now and then.
type withoutContent struct {
	engine.Engine
	fails *bool
}

func (w withoutContent) Objects() engine.Objects { return contents{w.Engine.Objects(), w.fails} }

type contents struct {
	engine.Objects
	fails *bool
}

func (c contents) Get(ctx context.Context, key engine.Key, off, n int64) ([]byte, error) {
	if *c.fails {
		return nil, engine.ErrUnreachable
	}
	return c.Objects.Get(ctx, key, off, n)
}

// Where the content of a file cannot be fetched, the file stays as it was, all else is shown, and what stayed is
// not taken for what a user has written, after a restart either.
func TestContentThatIsNotHereYet(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	fails := false
	start := func() { b.k.o.Engine = withoutContent{b.engine, &fails} }
	start()
	a.create(t, "x", "s")
	a.commit(t, mkdir("agent/x/memory"))
	a.save(t, "agent/x/memory/m", "one")
	b.enter(t)
	fails = true
	a.save(t, "agent/x/memory/m", "two")
	a.save(t, "agent/x/memory/n", "new")
	a.commit(t, rename("x", "", "y", ""))
	for range 3 {
		b.enter(t)
		data, err := os.ReadFile(b.file("agent/y/memory/m"))
		if string(data) != "one" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
		b.kill(t)
		start()
	}
	a.create(t, "y", "another")
	b.enter(t)
	if _, err := b.store.Session(ctxabi.Ref{UID: user.UID, Agent: "y", Session: "another"}); err != nil {
		t.Error(err)
	}
	fails = false
	b.enter(t)
	a.enter(t)
	same(t, servers, a, b)
	if data, _ := os.ReadFile(b.file("agent/y/memory/m")); string(data) != "two" {
		t.Errorf("%q", data)
	}
	fails = true
	a.save(t, "agent/y/memory/m", "three")
	b.enter(t)
	a.commit(t, names.RemoveName{Agent: "y", All: true})
	b.enter(t)
	same(t, servers, a, b)
}

// model is hosts that random things happen to.
type model struct {
	servers *fake.Servers
	hosts   []*host
	made    int
	kills   int
	written int
}

// act makes something happen.
func (m *model) act(t *rapid.T) {
	h := rapid.SampledFrom(m.hosts).Draw(t, "host")
	agent := rapid.SampledFrom([]string{"x", "y"})
	name := rapid.SampledFrom([]string{"s1", "s2"})
	path := rapid.SampledFrom([]string{"agent/x/memory/m", "agent/y/memory/m", "agent/x/memory/d/m", "agent/y/context.yaml", "agent/x/r/base.yaml", "trust.jsonl"})
	var err error
	commit := func(op names.Op) { _, err = h.k.Commit(context.Background(), user, op, nil) }
	m.made++
	switch rapid.IntRange(0, 14).Draw(t, "act") {
	case 0, 1:
		ref := user
		ref.Agent, ref.Session = agent.Draw(t, "agent"), name.Draw(t, "name")
		_, err = h.store.Create(ref, asOwner)
	case 2:
		ref := user
		ref.Agent, ref.Session = agent.Draw(t, "agent"), name.Draw(t, "name")
		err = h.store.Remove(ref)
	case 3:
		commit(rename(agent.Draw(t, "agent"), name.Draw(t, "name"), agent.Draw(t, "to"), name.Draw(t, "to name")))
	case 4:
		commit(rename(agent.Draw(t, "agent"), "", rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "to"), ""))
	case 5:
		commit(names.RemoveName{Agent: agent.Draw(t, "agent"), All: rapid.Bool().Draw(t, "all")})
	case 6:
		commit(mkdir("agent/" + agent.Draw(t, "agent") + rapid.SampledFrom([]string{"/memory", "/memory/d"}).Draw(t, "dir")))
	case 7:
		commit(names.ChangeLink{Link: names.Link{Op: names.Unlink, Path: path.Draw(t, "path")}})
	case 8, 9, 10:
		err = m.write(t, h, path.Draw(t, "path"))
	case 11:
		h.engine.Inject(fake.Fault(rapid.IntRange(0, fake.Kinds-1).Draw(t, "fault")))
	case 12:
		h.dieAt(rapid.IntRange(1, 6).Draw(t, "step"))
	default:
		err = h.k.Enter(context.Background(), user)
	}
	if errors.Is(err, errDead) {
		m.kills++
		h.kill(t)
	} else if err != nil && ctxabi.ErrnoName(err) == "EIO" && !errors.Is(err, engine.ErrUnreachable) {
		t.Fatal(err)
	}
}

// write writes a file on a host where its directory is, and closes it if the host lives on.
func (m *model) write(t *rapid.T, h *host, path string) error {
	if _, err := os.Stat(filepath.Dir(h.file(path))); err != nil {
		return nil
	}
	if fi, err := os.Lstat(h.file(path)); err == nil && !fi.Mode().IsRegular() {
		return nil
	}
	var base string
	h.k.View(user, func(s *names.State) { n, _ := s.Node(path); base = n.Hash })
	if err := os.WriteFile(h.file(path), fmt.Append(nil, "content ", m.made), 0o640); err != nil {
		return nil
	}
	if rapid.IntRange(0, 3).Draw(t, "killed") == 0 {
		return errDead
	}
	m.written++
	_, err := h.close(t, path, base)
	return err
}

// Whatever users do, servers answer and kills interrupt, hosts come to show the same.
func TestHostsComeToShowTheSame(t *testing.T) {
	dir := storesDir(t)
	cases, kills, written := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		cases++
		m := &model{servers: fake.New()}
		at := filepath.Join(dir, fmt.Sprint(cases))
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			m.hosts = append(m.hosts, newHost(t, m.servers, at, name))
		}
		m.hosts[0].create(t, "x", "s1")
		m.hosts[0].commit(t, mkdir("agent/x/memory"))
		m.hosts[1].enter(t)
		for range rapid.IntRange(5, 40).Draw(t, "acts") {
			m.act(t)
		}
		for _, h := range m.hosts {
			h.engine.Heal()
			m.servers.Land()
			h.kill(t)
			h.enter(t)
		}
		for _, h := range m.hosts { // what the last one found on its disk
			h.enter(t)
		}
		want := wanted(t, m.servers)
		compare(t, want, m.hosts, func(name string) bool { // what was written into an agent's home that another host removed
			agent, rel, ok := names.SplitHome(name + "/")
			return ok && want[names.HomePath(agent)] == "" && !strings.HasPrefix(rel, ctxabi.SessionDir+"/")
		})
		for _, h := range m.hosts {
			h.k.Close()
			h.store.Close()
		}
		os.RemoveAll(at)
		kills, written = kills+m.kills, written+m.written
	})
	if kills < 5 || written < 5 {
		t.Errorf("%d kills, %d files written: too few to say anything", kills, written)
	}
}
