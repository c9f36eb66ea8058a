package keeper

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
)

// What one host makes, changes and removes, the others show.
func TestHostsShowTheSame(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	x := a.create(t, "coder", "s1")
	a.create(t, "coder", "s2")
	a.create(t, "rev", "s1")
	a.commit(t, mkdir("agent/coder/memory"))
	a.commit(t, mkdir("agent/coder/memory/deep"))
	a.save(t, "agent/coder/memory/deep/x.md", "one")
	a.save(t, "agent/coder/recipes/base.yaml", "sources: []\n")
	a.save(t, "project/home-me/notes.md", "notes")
	a.save(t, "trust.jsonl", "")
	a.commit(t, names.ChangeLink{Link: names.Link{Op: names.Symlink, Path: "agent/coder/memory/l", Target: "deep/x.md"}})
	if err := unix.Setxattr(a.file("agent/coder/memory/deep/x.md"), "user.note", []byte{0, 0xff}, 0); err != nil {
		t.Logf("without attributes: %v", err)
	}
	if err := os.Chmod(a.file("agent/coder/memory/deep/x.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.save(t, "agent/coder/memory/deep/x.md", "one")
	if err := a.store.CreateAgent(ctxabi.Ref{UID: user.UID, Agent: "idle"}, asOwner); err != nil {
		t.Fatal(err)
	}
	if err := b.store.CreateAgent(ctxabi.Ref{UID: user.UID, Agent: "idle"}, asOwner); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("an agent that another host has made: %v", err)
	}
	b.enter(t)
	same(t, servers, a, b)
	y, err := b.store.Session(x.Ref())
	if err != nil || y.ID() != x.ID() {
		t.Fatalf("%v, %v", y, err)
	}

	if err := b.store.Rename("home/"+filepath.Base(user.Owner())+"/agent/coder", user.Owner()+"/agent/writer"); err != nil {
		t.Fatal(err)
	}
	b.save(t, "agent/writer/memory/deep/x.md", "two")
	b.commit(t, names.ChangeLink{Link: names.Link{Op: names.Move, Path: "agent/writer/memory/deep", To: "agent/rev/knowledge"}})
	b.commit(t, names.ChangeLink{Link: names.Link{Op: names.Unlink, Path: "agent/writer/memory/l"}})
	if err := b.store.Remove(ctxabi.Ref{UID: user.UID, Agent: "writer", Session: "s2"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.store.Create(ctxabi.Ref{UID: user.UID, Agent: "writer", Session: "s1"}, asOwner); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("a name that another host uses: %v", err)
	}
	a.enter(t)
	if x.Ref().Agent != "writer" || x.Removed() {
		t.Errorf("the session is %s", x.Ref())
	}
	same(t, servers, a, b)
	a.commit(t, names.RemoveName{Agent: "writer", All: true})
	b.enter(t)
	same(t, servers, a, b)
	if !y.Removed() {
		t.Error("the session is there on the other host")
	}
	if data, err := os.ReadFile(b.file("trust.jsonl")); err != nil || len(data) != 0 {
		t.Errorf("%q %v", data, err)
	}
	for _, h := range []*host{a, b} { // what is left is a store as others
		if err := errors.Join(h.k.Close(), h.store.Close()); err != nil {
			t.Error(err)
		}
		if _, err := check.Fsck(t.Context(), h.dir, check.FsckOptions{}, func(d check.Damage) { t.Errorf("host %s: %+v", h.name, d) }); err != nil {
			t.Error(err)
		}
	}
}

// A fork has its name on all hosts, and its history where it was made.
func TestAForkHasItsNameOnAllHosts(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	x := a.create(t, "coder", "s")
	record := []byte("{\"role\":\"user\",\"content\":\"hello\"}\n")
	if _, err := x.Messages().Append(t.Context(), log.Batch{Data: record}); err != nil {
		t.Fatal(err)
	}
	ref := ctxabi.Ref{UID: user.UID, Agent: "other", Session: "fork"}
	fork, _, err := a.store.Fork(x, -1, ref, asOwner)
	if err != nil || fork.Messages().Len() != int64(len(record)) {
		t.Fatalf("%v", err)
	}
	b.enter(t)
	same(t, servers, a, b)
	if y, err := b.store.Session(ref); err != nil || y.ID() != fork.ID() {
		t.Errorf("%v", err)
	}
	if _, _, err := b.store.Fork(x, -1, x.Ref(), asOwner); !errors.Is(err, ctxabi.ErrExists) {
		t.Error(err)
	}
	a.engine.Cut()
	ref.Session = "another"
	if _, _, err := a.store.Fork(x, -1, ref, asOwner); !errors.Is(err, engine.ErrUnreachable) {
		t.Error(err)
	}
	if list, err := os.ReadDir(filepath.Join(a.dir, "tmp")); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// A host that was away shows in one go what has swapped names meanwhile.
func TestNamesThatWereSwapped(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	for _, agent := range []string{"x", "y", "z"} {
		a.create(t, agent, "s1")
		a.create(t, agent, "s2")
		a.commit(t, mkdir("agent/"+agent+"/memory"))
		a.save(t, "agent/"+agent+"/memory/m", agent)
	}
	b.enter(t)
	b.put(t, "agent/x/scratch", "of this host")
	for _, op := range []names.Op{
		rename("x", "s1", "x", "t"), rename("x", "s2", "x", "s1"), rename("x", "t", "x", "s2"),
		rename("x", "", "t", ""), rename("y", "", "x", ""), rename("z", "", "y", ""), rename("t", "", "z", ""),
		rename("y", "s1", "t", "t"), // no such agent
		rename("y", "s1", "y", "moved"), rename("x", "s1", "y", "s1"), rename("y", "moved", "x", "s1"),
	} {
		if _, err := a.k.Commit(t.Context(), user, op, nil); err != nil && !errors.Is(err, ctxabi.ErrNotFound) {
			t.Fatal(err)
		}
	}
	b.enter(t)
	same(t, servers, a, b)
	if data, err := os.ReadFile(b.file("agent/z/scratch")); string(data) != "of this host" {
		t.Errorf("an agent's home was not renamed as a whole: %q, %v", data, err)
	}
}

// Sessions and homes that were removed below a host, as by rm -rf, stayed away for ever.
func TestWhatIsGoneFromTheDiskIsMadeAgain(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	a.create(t, "coder", "s1")
	a.create(t, "coder", "s2")
	a.create(t, "rev", "s1")
	a.commit(t, mkdir("agent/rev/memory"))
	a.save(t, "agent/rev/memory/x.md", "one")
	b.enter(t)
	for _, name := range []string{"agent/coder/session/s1", "agent/rev"} {
		if err := os.RemoveAll(b.file(name)); err != nil {
			t.Fatal(err)
		}
	}
	b.kill(t)
	b.enter(t)
	same(t, servers, a, b)
}

// What this host alone has is never lost, and stands in nobody's way.
func TestWhatIsInTheWayGetsAnotherName(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	alone, err := session.Open(filepath.Join(dir, "alone"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := alone.Create(ctxabi.Ref{UID: user.UID, Agent: "coder", Session: "s1"}, asOwner)
	if err != nil {
		t.Fatal(err)
	}
	id := own.ID()
	alone.Close()
	b.store.Close()
	os.RemoveAll(b.dir)
	if err := os.Rename(filepath.Join(dir, "alone"), b.dir); err != nil {
		t.Fatal(err)
	}
	b.start(t) // the host joins with a store that it had before
	a.create(t, "coder", "s1")
	a.commit(t, mkdir("agent/coder/memory"))
	a.save(t, "agent/coder/memory/m", "shared")
	a.save(t, "agent/coder/r/x.yaml", "recipe")
	b.put(t, "agent/coder/memory/m", "own")
	b.put(t, "agent/coder/scratch", "scratch")
	outside := t.TempDir()
	if err := os.Symlink(outside, b.file("agent/coder/r")); err != nil {
		t.Fatal(err)
	}
	b.enter(t)
	a.enter(t)
	if list, _ := os.ReadDir(outside); len(list) != 0 {
		t.Errorf("the keeper followed a link: %v", list)
	}
	moved := ctxabi.Ref{UID: user.UID, Agent: "coder", Session: "s1.ctxfs-conflict-b-1"}
	if x, err := b.store.Session(moved); err != nil || x.ID() != id {
		t.Errorf("%v, %v", x, err)
	}
	for _, h := range []*host{a, b} {
		for name, want := range map[string]string{"agent/coder/memory/m": "shared", "agent/coder/memory/m.ctxfs-conflict-b-1": "own", "agent/coder/r/x.yaml": "recipe"} {
			if data, err := os.ReadFile(h.file(name)); string(data) != want {
				t.Errorf("host %s: %s is %q, %v", h.name, name, data, err)
			}
		}
	}
	if data, _ := os.ReadFile(b.file("agent/coder/scratch")); string(data) != "scratch" {
		t.Errorf("%q", data)
	}
	a.commit(t, names.RemoveName{Agent: "coder", All: true})
	a.create(t, "other", "s")
	b.enter(t)
	a.commit(t, rename("other", "", "coder", ""))
	b.enter(t)
	if data, err := os.ReadFile(b.file("agent/coder.ctxfs-conflict-b-1/scratch")); string(data) != "scratch" {
		t.Errorf("%q, %v", data, err)
	}
	if x, err := b.store.Session(ctxabi.Ref{UID: user.UID, Agent: "coder", Session: "s"}); err != nil {
		t.Errorf("%v, %v", x, err)
	}
}

// Both sides changed a file: the later close keeps its own beside the other, on both hosts.
func TestTheLaterCloseKeepsItsOwn(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	const name = "agent/coder/memory/m"
	a.create(t, "coder", "s")
	a.commit(t, mkdir("agent/coder/memory"))
	a.save(t, name, "one")
	b.enter(t)
	one := Hash([]byte("one"))
	b.put(t, name, "b's") // is open
	a.save(t, name, "a's")
	kept, err := b.close(t, name, one)
	if err != nil || kept != name+".ctxfs-conflict-b-1" {
		t.Fatalf("%q, %v", kept, err)
	}
	a.enter(t)
	same(t, servers, a, b)
	for _, h := range []*host{a, b} {
		theirs, _ := os.ReadFile(h.file(name))
		own, _ := os.ReadFile(h.file(kept))
		if string(theirs) != "a's" || string(own) != "b's" {
			t.Errorf("host %s: %q and %q", h.name, theirs, own)
		}
	}
	// While it is open, the other content takes the name, and nothing is put aside.
	b.put(t, name, "b's again")
	b.open[user.Owner()+"/"+name] = true
	a.save(t, name, "a's again")
	b.enter(t)
	if data, _ := os.ReadFile(b.file(name)); string(data) != "a's again" {
		t.Errorf("%q", data)
	}
	same(t, servers, a, b)
	// What is not shared, or too large, is of one host.
	b.put(t, "agent/coder/knowledge", strings.Repeat("x", names.MaxFile+1))
	if _, _, ok, err := b.k.Read(user, "agent/coder/knowledge"); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	b.put(t, "agent/coder/scratch", "x")
	if _, _, ok, err := b.k.Read(user, "agent/coder/scratch"); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	if _, err := b.k.WriteFile(t.Context(), user, names.File{Path: "agent/coder/scratch", Hash: one, Size: 3}, []byte("one")); !errors.Is(err, names.ErrPerHost) {
		t.Error(err)
	}
}

// Several have a file open on one host. What one of them commits when he closes it does not take the place of what another has
// written by then: it stays the same file, which opens go on to find, and has what is committed last.
func TestOpensOfAFileThatManyCloseAreStale(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	const name = "agent/coder/memory/m"
	a.create(t, "coder", "s")
	a.commit(t, mkdir("agent/coder/memory"))
	a.save(t, name, "one")
	before, err := os.Stat(a.file(name))
	if err != nil {
		t.Fatal(err)
	}
	a.put(t, name, "two")
	f, data, _, err := a.k.Read(user, name)
	if err != nil {
		t.Fatal(err)
	}
	a.put(t, name, "three") // another's, meanwhile
	a.open[user.Owner()+"/"+name] = true
	f.Base = Hash([]byte("one"))
	if kept, err := a.k.WriteFile(t.Context(), user, f, data); err != nil || kept != name {
		t.Fatalf("%q, %v", kept, err)
	}
	after, err := os.Stat(a.file(name))
	if content, _ := os.ReadFile(a.file(name)); err != nil || string(content) != "three" || !os.SameFile(before, after) {
		t.Errorf("%v: it has %q, and is the same: %v", err, content, os.SameFile(before, after))
	}
	if kept, err := a.close(t, name, f.Hash); err != nil || kept != name {
		t.Fatalf("%q, %v", kept, err)
	}
	b.enter(t)
	same(t, servers, a, b)
	if content, _ := os.ReadFile(b.file(name)); string(content) != "three" {
		t.Errorf("the other host has %q", content)
	}
}

// A host that is cut off shows what it knows, and says that it is cut off.
func TestAHostThatIsCutOff(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	a.create(t, "coder", "s")
	a.commit(t, mkdir("agent/coder/memory"))
	a.save(t, "agent/coder/memory/m", "one")
	b.enter(t)
	b.engine.Cut()
	b.kill(t)
	if err := b.k.Enter(t.Context(), user); !errors.Is(err, engine.ErrUnreachable) || b.k.Stale(user) == nil {
		t.Errorf("%v, %v", err, b.k.Stale(user))
	}
	if _, err := b.store.Create(ctxabi.Ref{UID: user.UID, Agent: "coder", Session: "t"}, asOwner); !errors.Is(err, engine.ErrUnreachable) {
		t.Error(err)
	}
	same(t, servers, b)
	b.engine.Heal()
	a.create(t, "coder", "u")
	b.enter(t)
	if err := b.k.Stale(user); err != nil {
		t.Error(err)
	}
	same(t, servers, a, b)
}

// Who follows shows what others do without being asked.
func TestFollowing(t *testing.T) {
	servers, dir := fake.New(), storesDir(t)
	a, b := newHost(t, servers, dir, "a"), newHost(t, servers, dir, "b")
	a.create(t, "coder", "s")
	done := make(chan string, 100)
	b.k.step = func(what string) error { done <- what; return nil }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.k.Follow(ctx, user, time.Hour) }()
	wait := func(want string) {
		for {
			select {
			case what := <-done:
				if what == want {
					return
				}
			case <-t.Context().Done():
				t.Fatalf("%s was not done", want)
			}
		}
	}
	wait("make the session " + user.Owner() + "/agent/coder/session/s")
	a.create(t, "coder", "t")
	wait("make the session " + user.Owner() + "/agent/coder/session/t")
	b.engine.Inject(fake.LoseFeed)
	a.commit(t, mkdir("agent/coder/memory"))
	wait("make agent/coder/memory")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	b.enter(t)
	same(t, servers, a, b)
}
