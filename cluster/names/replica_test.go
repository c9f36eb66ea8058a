package names

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// cluster is what the random tests act on: an owner's journal with a replica on each host.
type cluster struct {
	servers  *fake.Servers
	hosts    []*fake.Host
	replicas []*Replica
	keeper   *Replica // of who maintains the journals

	entries  map[uint64]string // what hosts have read, by number
	mismatch []string

	made      int
	acked     map[uint64]bool // entries of operations that were acknowledged
	unknown   int             // operations whose outcome was not known
	refusals  map[string]int
	conflicts int
}

func newCluster() *cluster {
	c := &cluster{servers: fake.New(), entries: map[uint64]string{}, acked: map[uint64]bool{}, refusals: map[string]int{}}
	c.keeper = c.replica(c.servers.Maintenance(), "keeper", Options{})
	for _, name := range []string{"x", "y", "z"} {
		h := c.servers.Host(name)
		c.hosts = append(c.hosts, h)
		c.replicas = append(c.replicas, c.replica(h, name, Options{}))
	}
	return c
}

// replica returns a replica that does not wait, and compares what it reads with what others have read.
func (c *cluster) replica(e engine.Engine, name string, o Options) *Replica {
	o.Taken = func(from engine.Entry, a Applied) {
		if a.Entry.Host == "" {
			return // a snapshot
		}
		if a.Refused != nil {
			c.mismatch = append(c.mismatch, fmt.Sprintf("%s refuses entry %d: %v", name, a.Entry.I, a.Refused))
		}
		what := fmt.Sprint(from.Seq, from.ID, from.Payload)
		if old, ok := c.entries[a.Entry.I]; ok && old != what {
			c.mismatch = append(c.mismatch, fmt.Sprintf("%s reads another entry %d", name, a.Entry.I))
		}
		c.entries[a.Entry.I] = what
	}
	r := NewReplica(e, name, user, o)
	r.pause = func(context.Context, int) {}
	return r
}

// op draws an operation as a user of a host wants it, who sees what the host has read.
func (c *cluster) op(t *rapid.T, r *Replica) Op {
	pick := func(list []string) string { return rapid.SampledFrom(list).Draw(t, "name") }
	agents, sessions := []string{"a", "b"}, []string{"s", "t", "u"}
	path := pick(append(files, dirs...))
	c.made++
	switch rapid.IntRange(0, 12).Draw(t, "op") {
	case 0:
		return CreateAgent{pick(agents), owner}
	case 1, 2, 3:
		return CreateSession{pick(agents), pick(sessions), id(c.made), owner}
	case 4:
		return RenameName{Agent: pick(agents), ToAgent: pick(agents)}
	case 5:
		return RenameName{Agent: pick(agents), Session: pick(sessions), ToAgent: pick(agents), ToSession: pick(sessions)}
	case 6:
		return RemoveName{Agent: pick(agents), Session: pick(sessions)}
	case 7:
		return RemoveName{Agent: pick(agents), All: rapid.Bool().Draw(t, "all")}
	case 8, 9:
		return c.write(r, path)
	case 10:
		return ChangeLink{Link{Op: Mkdir, Path: path, Mode: 0o755}}
	case 11:
		return NoteParents{IDs: []string{id(rapid.IntRange(1, c.made).Draw(t, "parent"))}, All: rapid.Bool().Draw(t, "all")}
	default:
		f := fileRow(path, fmt.Sprint("content ", c.made), "")
		return MoveFile{From: pick(append(files, "agent/a/scratch")), To: path, File: &f}
	}
}

// write returns a change of the content that a host has of a file.
func (c *cluster) write(r *Replica, path string) WriteFile {
	c.made++
	f := fileRow(path, fmt.Sprint("content ", c.made), "")
	r.View(func(s *State) {
		n, _ := s.Node(path)
		f.Base = n.Hash
	})
	return WriteFile{f}
}

// do commits an operation and notes what became of it.
func (c *cluster) do(t *rapid.T, r *Replica, op Op) {
	a, err := r.Commit(context.Background(), op)
	switch {
	case err == nil && a.Entry.Host != "":
		if c.acked[a.Entry.I] || a.Refused != nil {
			t.Fatalf("%+v was acknowledged by entry %d, which stands for another one or was refused: %v", op, a.Entry.I, a.Refused)
		}
		c.acked[a.Entry.I] = true
		if w, ok := op.(WriteFile); ok && KeptAs(a, w.Path) != w.Path {
			c.conflicts++
		}
	case errors.Is(err, engine.ErrUnknown):
		c.unknown++
	case err != nil:
		c.refusals[ctxabi.ErrnoName(err)]++
		if ctxabi.ErrnoName(err) == "EIO" && !errors.Is(err, engine.ErrUnreachable) {
			t.Fatalf("%+v: %v", op, err)
		}
	}
}

func (c *cluster) actions() map[string]func(*rapid.T) {
	host := rapid.IntRange(0, 2)
	act := func(t *rapid.T) { r := c.replicas[host.Draw(t, "host")]; c.do(t, r, c.op(t, r)) }
	return map[string]func(*rapid.T){
		"":               func(t *rapid.T) { c.keeper.View(func(*State) {}) },
		"commit":         act,
		"commit more":    act,
		"commit another": act,
		"commit a file":  func(t *rapid.T) { r := c.replicas[host.Draw(t, "host")]; c.do(t, r, c.write(r, files[0])) },
		"fault": func(t *rapid.T) {
			c.hosts[host.Draw(t, "host")].Inject(fake.Fault(rapid.IntRange(0, fake.Kinds-1).Draw(t, "fault")))
		},
		"land": func(*rapid.T) { c.servers.Land() },
		"cut": func(t *rapid.T) {
			h := c.hosts[host.Draw(t, "host")]
			h.Cut()
			c.do(t, c.replicas[slices.Index(c.hosts, h)], CreateAgent{"a", owner})
			if rapid.IntRange(0, 3).Draw(t, "heals") > 0 {
				h.Heal()
			}
		},
		"heal":  func(t *rapid.T) { c.hosts[host.Draw(t, "host")].Heal() },
		"fill":  func(t *rapid.T) { c.servers.Fill(rapid.IntRange(0, 3).Draw(t, "full") == 0) },
		"lead":  func(t *rapid.T) { c.servers.Lead(user.Shard(), rapid.IntRange(0, 2).Draw(t, "replica")) },
		"learn": func(t *rapid.T) { c.replicas[host.Draw(t, "host")].CatchUp(context.Background()) },
		"checkpoint": func(t *rapid.T) {
			if err := c.keeper.Checkpoint(context.Background()); err != nil && !errors.Is(err, engine.ErrFull) {
				t.Fatal(err)
			}
		},
		"restart": func(t *rapid.T) { // with what the host has read, or with nothing
			i := host.Draw(t, "host")
			o := Options{}
			if old := c.replicas[i]; rapid.Bool().Draw(t, "keeps its copy") {
				s, err := Decode(user, old.state.Encode())
				if err != nil {
					t.Fatal(err)
				}
				o = Options{State: s, Seq: old.seq}
			}
			c.replicas[i] = c.replica(c.hosts[i], []string{"x", "y", "z"}[i], o)
		},
	}
}

// settle ends all that is under way and returns what is wrong.
func (c *cluster) settle(t *rapid.T) []string {
	c.servers.Land()
	c.servers.Fill(false)
	newcomer := c.replica(c.servers.Host("newcomer"), "newcomer", Options{})
	var want []byte
	for i, r := range append(c.replicas, c.keeper, newcomer) {
		if i < len(c.hosts) {
			c.hosts[i].Heal()
		}
		if err := r.CatchUp(context.Background()); err != nil {
			return append(c.mismatch, fmt.Sprintf("host %d: %v", i, err))
		}
		got := r.state.Encode()
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			c.mismatch = append(c.mismatch, fmt.Sprintf("host %d has\n%s\nand the first one\n%s", i, got, want))
		}
	}
	at := newcomer.state.at.I
	checkpoints := 0
	for i := range at {
		if what, ok := c.entries[i]; !ok {
			c.mismatch = append(c.mismatch, fmt.Sprintf("nobody has read entry %d", i))
		} else if bytes.Contains([]byte(what), []byte("keeper-")) {
			checkpoints++
		}
	}
	if n := int(at) - checkpoints; n < len(c.acked) || n > len(c.acked)+c.unknown {
		c.mismatch = append(c.mismatch, fmt.Sprintf("%d entries of operations, %d acknowledged and %d unknown", n, len(c.acked), c.unknown))
	}
	return c.mismatch
}

// Whatever goes wrong between hosts and servers, hosts hold the same names, each operation that was acknowledged
// stands in one entry of its own, and none that was refused.
func TestHostsHoldTheSameNames(t *testing.T) {
	acked, unknown, conflicts, refusals := 0, 0, 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster()
		for _, op := range []Op{CreateAgent{"a", owner}, ChangeLink{Link{Op: Mkdir, Path: dirs[0], Mode: 0o755}}, c.write(c.replicas[0], files[0])} {
			c.do(t, c.replicas[0], op)
		}
		t.Repeat(c.actions())
		for _, w := range c.settle(t) {
			t.Error(w)
		}
		acked, unknown, conflicts = acked+len(c.acked), unknown+c.unknown, conflicts+c.conflicts
		for k, n := range c.refusals {
			refusals[k] += n
		}
	})
	t.Log(acked, unknown, conflicts, refusals)
	if acked < 100 || conflicts == 0 || refusals["EEXIST"] == 0 || refusals["ENOENT"] == 0 {
		t.Errorf("%d operations were acknowledged, %d files kept beside others, refusals: %v: too few to say anything", acked, conflicts, refusals)
	}
}

// commit commits an operation that succeeds.
func commit(t *testing.T, r *Replica, op Op) Applied {
	t.Helper()
	a, err := r.Commit(t.Context(), op)
	if err != nil {
		t.Fatalf("%+v: %v", op, err)
	}
	return a
}

// Of two hosts that want one name, one gets it, though neither knows of the other.
func TestOneHostGetsAName(t *testing.T) {
	c := newCluster()
	x, y := c.replicas[0], c.replicas[1]
	commit(t, x, CreateSession{"a", "s", id(1), owner})
	if _, err := y.Commit(t.Context(), CreateSession{"a", "s", id(2), owner}); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("the name was taken: %v", err)
	}
	commit(t, y, CreateSession{"a", "t", id(3), owner}) // y sees the agent that x has made
	if _, err := x.Commit(t.Context(), RenameName{Agent: "a", Session: "s", ToAgent: "a", ToSession: "t"}); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("the new name was taken: %v", err)
	}
	commit(t, y, RemoveName{Agent: "a", Session: "t"})
	commit(t, x, RenameName{Agent: "a", Session: "s", ToAgent: "a", ToSession: "t"}) // x did not know that t had gone
	if _, err := y.Commit(t.Context(), RemoveName{Agent: "a", Session: "s"}); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("the session has another name: %v", err)
	}
	commit(t, y, RenameName{Agent: "a", ToAgent: "b"})
	if _, err := x.Commit(t.Context(), CreateSession{"a", "s", id(1), owner}); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("an id that is in use: %v", err)
	}
	if s, ok := x.state.SessionByID(id(1)); !ok || s.Ref.Path() != "home/1000/agent/b/session/t" {
		t.Errorf("%+v %v", s, ok)
	}
}

// Who closes a file later than another host keeps his own under a name of its own.
func TestBothSidesChangedAFile(t *testing.T) {
	c := newCluster()
	x, y := c.replicas[0], c.replicas[1]
	commit(t, x, CreateAgent{"a", owner})
	commit(t, x, ChangeLink{Link{Op: Mkdir, Path: "agent/a/memory", Mode: 0o755}})
	const name = "agent/a/memory/x.md"
	commit(t, x, WriteFile{fileRow(name, "one", "")})
	commit(t, y, WriteFile{fileRow(name, "two", "one")}) // y has opened it after x closed it
	for i, content := range []string{"three", "four"} {
		a := commit(t, x, WriteFile{fileRow(name, content, "one")})
		if kept := KeptAs(a, name); kept != fmt.Sprintf("%s.ctxfs-conflict-x-%d", name, i+1) {
			t.Errorf("%q is kept as %q", content, kept)
		}
	}
	if a := commit(t, x, WriteFile{fileRow(name, "four", "one")}); a.Entry.Host != "" {
		t.Errorf("the same once more: %+v", a.Rows)
	}
	if a := commit(t, y, WriteFile{fileRow(name, "two", "one")}); a.Entry.Host != "" {
		t.Errorf("what stands there already: %+v", a.Rows)
	}
	commit(t, y, ChangeLink{Link{Op: Unlink, Path: name}})
	if a := commit(t, x, WriteFile{fileRow(name, "five", "two")}); KeptAs(a, name) == name {
		t.Error("a file that was removed since is back")
	}
	commit(t, x, WriteFile{fileRow("trust.jsonl", "{}", "")})
	if a := commit(t, y, WriteFile{fileRow("trust.jsonl", "[]", "")}); KeptAs(a, "trust.jsonl") != "trust.jsonl" {
		t.Error("what a user trusts has two names")
	}
	if n, _ := x.state.Node(name + ".ctxfs-conflict-x-1"); n.Hash != hash("three") {
		t.Errorf("%+v", n)
	}
	if _, ok := y.state.Node(name); ok {
		t.Error("the file is there")
	}
}

// Renames between what hosts share and what they do not.
func TestRenamesAcrossTheBorder(t *testing.T) {
	c := newCluster()
	x := c.replicas[0]
	commit(t, x, CreateAgent{"a", owner})
	commit(t, x, ChangeLink{Link{Op: Mkdir, Path: "agent/a/memory", Mode: 0o755}})
	f := fileRow("", "new", "")
	const name, scratch = "agent/a/memory/x.md", "agent/a/x.tmp"
	commit(t, x, WriteFile{fileRow(name, "old", "")})
	commit(t, x, MoveFile{From: scratch, To: name, File: &f}) // as editors save
	if n, _ := x.state.Node(name); n.Hash != hash("new") {
		t.Errorf("%+v", n)
	}
	commit(t, x, MoveFile{From: name, To: name + "~"})
	commit(t, x, MoveFile{From: name + "~", To: scratch})
	if got := fmt.Sprint(x.state.Paths()); got != "[agent/a/memory]" {
		t.Error(got)
	}
	if a := commit(t, x, MoveFile{From: scratch, To: scratch + "2"}); a.Entry.Host != "" {
		t.Errorf("a rename of no concern: %+v", a.Rows)
	}
	for _, op := range []MoveFile{{From: "agent/a/memory", To: "agent/a/other", Dir: true}, {From: "agent/a/other", To: "agent/a/skills", Dir: true}} {
		if _, err := x.Commit(t.Context(), op); !errors.Is(err, ErrCrosses) {
			t.Errorf("%+v: %v", op, err)
		}
	}
	commit(t, x, WriteFile{fileRow("agent/a/r/one.yaml", "1", "")})
	commit(t, x, MoveFile{From: "agent/a/r", To: "agent/a/q", Dir: true}) // not shared itself, but for what lies in it
	if _, ok := x.state.Node("agent/a/q/one.yaml"); !ok {
		t.Error(x.state.Paths())
	}
}

// A host that comes after the journal was trimmed begins with the snapshot; one that was away goes on from it.
func TestTrimmedJournals(t *testing.T) {
	c := newCluster()
	x, y := c.replicas[0], c.replicas[1]
	for i := range 10 {
		commit(t, x, CreateSession{"a", fmt.Sprint("s", i), id(i), owner})
		if i == 3 {
			if err := y.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.keeper.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := c.hosts[0].Read(t.Context(), user, engine.Range{Leader: true})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d entries are left: %v", len(list), err)
	}
	commit(t, x, RemoveName{Agent: "a", Session: "s0"})
	z := c.replica(c.servers.Host("new"), "new", Options{})
	for _, r := range []*Replica{y, z} {
		if err := r.CatchUp(t.Context()); err != nil || !bytes.Equal(r.state.Encode(), x.state.Encode()) {
			t.Errorf("%v\n%s\n%s", err, r.state.Encode(), x.state.Encode())
		}
	}
	n, _ := snapshotOf(list[0])
	if err := c.servers.Maintenance().Objects().Delete(t.Context(), SnapshotKey(user, n)); err != nil {
		t.Fatal(err)
	}
	late := c.replica(c.servers.Host("late"), "late", Options{})
	if err := late.CatchUp(t.Context()); !errors.Is(err, engine.ErrNotFound) || late.state.at != journal.Start(user) {
		t.Errorf("a snapshot that is lost: %v", err)
	}
}

// What was acknowledged and is lost is found, and nothing is committed behind the gap.
func TestALostEndIsFound(t *testing.T) {
	c := newCluster()
	x := c.replicas[0]
	commit(t, x, CreateAgent{"a", owner})
	commit(t, x, CreateAgent{"b", owner})
	c.servers.Truncate(user.Shard(), 1)
	ctx, cancel := context.WithCancel(t.Context())
	x.pause = func(context.Context, int) { cancel() }
	if err := x.CatchUp(ctx); !errors.Is(err, ErrOlder) {
		t.Error(err)
	}
	if _, err := x.Commit(ctx, CreateAgent{"c", owner}); !errors.Is(err, ErrOlder) && !errors.Is(err, engine.ErrUnreachable) {
		t.Error(err)
	}
	if list, _ := c.hosts[1].Read(t.Context(), user, engine.Range{Leader: true}); len(list) != 1 {
		t.Errorf("%d entries", len(list))
	}
}
