package names

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

var user = engine.Subject{Owner: "u1000"}

// id returns the n-th id of a session.
func id(n int) string { return fmt.Sprintf("%032x", n) }

// hash returns the hash of a content.
func hash(content string) string { return hashOf([]byte(content)) }

var (
	owner = Owner{UID: 1000, GID: 100, Mode: 0o700}
	files = []string{"agent/a/memory/x.md", "agent/a/memory/d/y.md", "agent/b/memory/x.md", "agent/a/context.yaml", "trust.jsonl", "project/p/notes.md", "agent/a/r/extra.yml"}
	dirs  = []string{"agent/a/memory", "agent/a/memory/d", "agent/b/memory", "agent/a/memory/e", "agent/a/r"}
)

// rows draws rows of an owner's journal, of which many fit the states that few names lead to.
func drawRow(t *rapid.T) row {
	agents, sessions := []string{"a", "b", "c"}, []string{"s", "t"}
	pick := func(list []string, what string) string { return rapid.SampledFrom(list).Draw(t, what) }
	file := func(what string) string { return pick(append(files, dirs...), what) }
	n := Name{Agent: pick(agents, "agent")}
	of := func() { n.Session, n.ID = pick(sessions, "session"), id(rapid.IntRange(1, 5).Draw(t, "id")) }
	switch op := rapid.IntRange(0, 14).Draw(t, "op"); op {
	case 0, 1:
		n.Op, n.Owner = MakeAgent, owner
	case 2, 3, 4:
		n.Op, n.Owner = MakeSession, owner
		of()
	case 5:
		n.Op, n.ToAgent = Rename, pick(agents, "to")
	case 6:
		n.Op, n.ToAgent, n.ToSession = Rename, pick(agents, "to"), pick(sessions, "to session")
		of()
	case 7:
		n.Op, n.All = Remove, rapid.Bool().Draw(t, "all")
	case 8:
		n.Op = Remove
		of()
	case 9:
		n = Name{ID: id(rapid.IntRange(1, 5).Draw(t, "id"))}
		return rapid.SampledFrom([]Name{{Op: Park, ID: n.ID, I: 7, Hash: hash("snapshot")}, {Op: Parent, ID: n.ID}, {Op: Parents}}).Draw(t, "note")
	case 10, 11:
		f := File{Path: file("path"), Hash: hash(pick(sessions, "content")), Size: 1, Mode: 0o644, UID: 1000, MTime: 5}
		f.Base = pick([]string{"", f.Hash, hash("s"), hash("t")}, "base")
		if rapid.Bool().Draw(t, "attributes") {
			f.Xattrs = map[string][]byte{"user.b": {0xff, 0}, "user.a": nil}
		}
		return f
	case 12:
		return Link{Op: Mkdir, Path: file("path"), Mode: 0o755, UID: 1000, MTime: 5}
	case 13:
		return Link{Op: pickOp(t), Path: file("path")}
	default:
		if rapid.Bool().Draw(t, "symlink") {
			return Link{Op: Symlink, Path: file("path"), Target: "x.md"}
		}
		return Link{Op: Move, Path: file("path"), To: file("to")}
	}
	return n
}

func pickOp(t *rapid.T) LinkOp { return rapid.SampledFrom([]LinkOp{Rmdir, Unlink}).Draw(t, "op") }

// sealer makes the entries of a journal.
type sealer struct {
	at  journal.Position
	seq uint64
}

func (s *sealer) entry(t interface{ Fatal(...any) }, rows ...row) engine.Entry {
	header, payload, next, err := journal.Seal(s.at, "h", 1, rowsOf(rows...))
	if err != nil {
		t.Fatal(err)
	}
	s.at = next
	s.seq++
	return engine.Entry{Seq: s.seq, ID: fmt.Sprint("h-", s.seq), Header: header, Payload: payload}
}

// Whatever is written, an entry counts whole or not at all, states with equal entries are equal, and a state
// that went through bytes goes on as if it had not.
func TestStatesFollowFromEntries(t *testing.T) {
	accepted, refused, whole := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s, o, j := New(user), New(user), &sealer{at: journal.Start(user)}
		home := Name{Op: MakeHome, Owner: owner}
		for i := range rapid.IntRange(1, 25).Draw(t, "entries") {
			rows := []row{home}
			if i > 0 {
				rows = rapid.SliceOfN(rapid.Custom(drawRow), 0, 4).Draw(t, "rows")
			}
			before := s.Encode()
			checked := s.Check(rowsOf(rows...))
			if !bytes.Equal(s.Encode(), before) {
				t.Fatalf("Check has changed\n%s to\n%s", before, s.Encode())
			}
			from := j.entry(t, rows...)
			a, err := s.Apply(from)
			b, err2 := o.Apply(from)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if fmt.Sprint(a.Refused) != fmt.Sprint(b.Refused) || fmt.Sprint(a.Refused) != fmt.Sprint(checked) || !bytes.Equal(s.Encode(), o.Encode()) {
				t.Fatalf("two states differ: %v, %v, and %v was foretold\n%s\n%s", a.Refused, b.Refused, checked, s.Encode(), o.Encode())
			}
			if a.Refused == nil {
				accepted++
				if len(rows) > 1 {
					whole++
				}
			} else {
				refused++
				if ctxabi.ErrnoName(a.Refused) == "EIO" {
					t.Fatalf("refused as %v", a.Refused)
				}
				var back State = *s
				back.at.I--
				want, _ := Decode(user, before)
				back.at = want.at
				if !bytes.Equal(back.Encode(), before) {
					t.Fatalf("an entry that was refused has changed\n%s to\n%s", before, back.Encode())
				}
			}
			if o, err = Decode(user, s.Encode()); err != nil || !bytes.Equal(o.Encode(), s.Encode()) {
				t.Fatalf("%v\n%s", err, s.Encode())
			}
			if len(s.ids) != len(s.Sessions("")) {
				t.Fatalf("%d ids of %d sessions", len(s.ids), len(s.Sessions("")))
			}
		}
	})
	if accepted < 200 || refused < 200 || whole < 20 {
		t.Errorf("%d entries were accepted, %d of them with several rows, and %d refused: too few to say anything", accepted, whole, refused)
	}
}

// script applies entries, each of some rows, and returns the state with the refusals as text.
func script(t *testing.T, entries ...[]row) (*State, string) {
	t.Helper()
	s, j := New(user), &sealer{at: journal.Start(user)}
	var b strings.Builder
	for i, rows := range entries {
		a, err := s.Apply(j.entry(t, rows...))
		if err != nil {
			t.Fatal(err)
		}
		if a.Refused != nil {
			fmt.Fprintf(&b, "%d %s %v\n", i, ctxabi.ErrnoName(a.Refused), a.Refused)
		}
	}
	return s, b.String()
}

var home = Name{Op: MakeHome, Owner: owner}

func agentRow(name string) Name { return Name{Op: MakeAgent, Agent: name, Owner: owner} }

func sessionRow(agent, name string, n int) Name {
	return Name{Op: MakeSession, Agent: agent, Session: name, ID: id(n), Owner: owner}
}

func fileRow(path, content, base string) File {
	f := File{Path: path, Hash: hash(content), Size: int64(len(content)), Mode: 0o640, UID: 1000, GID: 100, MTime: 1_760_000_000_123_456_789}
	if base != "" {
		f.Base = hash(base)
	}
	return f
}

// example has every kind of row, and refusals of all kinds.
var example = [][]row{
	{home, agentRow("a"), agentRow("b"), sessionRow("a", "s", 1)},
	{sessionRow("a", "t", 2), sessionRow("a", "s", 3)},
	{sessionRow("a", "t", 1)},
	{sessionRow("nobody", "t", 2)},
	{agentRow("a")},
	{Link{Op: Mkdir, Path: "agent/a/memory", Mode: 0o750, UID: 1000, GID: 100, MTime: 1}, fileRow("agent/a/memory/x.md", "one", "")},
	{fileRow("agent/a/memory/x.md", "two", "another")},
	{fileRow("agent/a/memory/x.md", "two", "one")},
	{fileRow("agent/a/memory/d/y.md", "y", "")},
	{fileRow("agent/a/memory/x.md/y", "y", "")},
	{fileRow("agent/a/notes.txt", "y", "")},
	{fileRow("agent/a/memory", "y", "")},
	{Link{Op: Rmdir, Path: "agent/a/memory"}},
	{Link{Op: Unlink, Path: "agent/a/memory"}},
	{Link{Op: Rmdir, Path: "agent/a/memory/x.md"}},
	{Link{Op: Unlink, Path: "agent/a/memory/z.md"}},
	{Link{Op: Symlink, Path: "agent/a/memory/l", Target: "x.md", UID: 1000, MTime: 2}},
	{Link{Op: Move, Path: "agent/a/memory", To: "agent/a/memory/in"}},
	{Link{Op: Move, Path: "agent/a/memory", To: "agent/a/elsewhere"}},
	{Link{Op: Move, Path: "agent/a/memory", To: "agent/b/knowledge"}},
	{Link{Op: Move, Path: "agent/b/knowledge/x.md", To: "agent/b/knowledge/l"}},
	{Link{Op: Attributes, Path: "agent/b/knowledge", Mode: 0o700, MTime: 3}},
	{fileRow("agent/a/recipes/deep/base.yaml", "recipe", ""), fileRow("trust.jsonl", "{}", ""), fileRow("project/home-me/notes.md", "n", "")},
	{fileRow("project/home-me/memory.md", "n", "")},
	{Name{Op: Rename, Agent: "a", ToAgent: "b"}},
	{Name{Op: Rename, Agent: "a", ToAgent: "c"}},
	{Name{Op: Rename, Agent: "c", Session: "s", ID: id(2), ToAgent: "b", ToSession: "s"}},
	{Name{Op: Rename, Agent: "c", Session: "s", ID: id(1), ToAgent: "b", ToSession: "moved"}},
	{Name{Op: Park, ID: id(1), I: 12, Hash: hash("snapshot")}},
	{Name{Op: Park, ID: id(9), I: 12, Hash: hash("snapshot")}},
	{Name{Op: Remove, Agent: "b"}},
	{Name{Op: Remove, Agent: "c", All: true}},
	{Name{Op: Remove, Agent: "b", Session: "moved", ID: id(2)}},
	{Snapshot{I: 3, Hash: hash("x")}},
	{Snapshot{I: 34, Hash: hash("x")}},
	{Name{Op: MakeAgent, Agent: "../x", Owner: owner}},
	{Name{Op: "paint", Agent: "x"}},
	{File{Path: "agent/b/memory/x", Hash: hash("x"), Size: MaxFile + 1}},
	{Name{Op: Parent, ID: id(1)}},
	{Name{Op: Parent, ID: id(9)}},
	{Name{Op: Parents}},
}

// Rows, states and refusals stay what they are: hosts with other versions of this program read them.
func TestTheFormsStay(t *testing.T) {
	var b strings.Builder
	for _, rows := range example {
		for _, r := range rowsOf(rows...) {
			fmt.Fprintf(&b, "%c %s\n", r.Kind, r.Content)
		}
	}
	s, refusals := script(t, example...)
	fmt.Fprintf(&b, "\n%s\n%s\n", refusals, s.Encode())
	const name = "testdata/names.golden"
	if os.Getenv("CTXFS_UPDATE") == "1" {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, b.String(), want)
	}
}

func TestQuestionsToAState(t *testing.T) {
	s, _ := script(t, example...)
	x, ok := s.SessionByID(id(1))
	ref := ctxabi.Ref{UID: 1000, Agent: "b", Session: "moved"}
	if !ok || x.Ref != ref || x.Parked != (Parked{12, hash("snapshot")}) || x.Owner != owner {
		t.Errorf("%+v %v", x, ok)
	}
	if y, ok := s.Session("b", "moved"); !ok || y != x {
		t.Errorf("%+v %v", y, ok)
	}
	if list := s.Sessions(""); len(list) != 1 || list[0] != x || len(s.Sessions("b")) != 1 || len(s.Sessions("c")) != 0 {
		t.Errorf("%+v", list)
	}
	if _, ok := s.SessionByID(id(2)); ok {
		t.Error("a session that was refused is there")
	}
	if n, ok := s.Node("agent/b/knowledge/l"); !ok || n.Kind != Regular || n.Hash != hash("two") {
		t.Errorf("%+v %v", n, ok)
	}
	if _, ok := s.Node("agent/a/memory/x.md"); ok {
		t.Error("a file is where it was")
	}
	if got := fmt.Sprint(s.Paths()); got != "[agent/b/knowledge agent/b/knowledge/l project/home-me/notes.md trust.jsonl]" {
		t.Error(got)
	}
	for content, want := range map[string]bool{"two": true, "one": false, "snapshot": true, "recipe": false, "n": true} {
		if s.Contents()[hash(content)] != want {
			t.Errorf("%q among contents is %v", content, !want)
		}
	}
}

func TestWhatIsShared(t *testing.T) {
	space := SubjectOf(ctxabi.Ref{Space: "team"})
	for name, want := range map[string]bool{
		"agent/a/context.yaml": true, "agent/a/system_prompt.md": true, "agent/a/tools.json": true, "agent/a/skills": true, "agent/a/skills/x/SKILL.md": true,
		"agent/a/memory/.hidden": true, "agent/a/deep/er/x.yml": true, "agent/a/context.yaml.ctxfs-conflict-h-1": true, "agent/a/playbooks/p": true, "agent/a/knowledge/k": true,
		"agent/a/deep/er/context.json": false, "agent/a/scratch": false, "agent/a": false, "agent/a/session/s/state": false, "agent/a/search/x.yaml": false,
		"agent/a/deep/system_prompt.md": false, "agent/a/memory/../x": false, "agent/a/memory/": false, "agent/a/memory/.ctxfs-own.x": false, "agent/a/memory/\xff": false,
		"agent/a/memory/" + strings.Repeat("x", 256): false, "other/a/memory/x": false, "agent/.a/memory/x": false, "": false, "/agent/a/memory/x": false,
		"agent/a/scratch.ctxfs-conflict-h-1": false, "agent/a/x.yaml.ctxfs-conflict-h-01": false,
	} {
		if Shared(user, name) != want || Shared(space, name) != want {
			t.Errorf("%q is shared: %v", name, !want)
		}
	}
	for name, want := range map[string]bool{"trust.jsonl": true, "project/p/notes.md": true, "project/p/memory.md": false, "project/p": false, "trust.jsonl.bak": false} {
		if Shared(user, name) != want || Shared(space, name) {
			t.Errorf("%q is shared: %v", name, !want)
		}
	}
	long := "agent/a/memory/" + strings.Repeat("é", 120)
	if c := ConflictName(long, "host", 3); !Shared(user, c) || len(c)-len("agent/a/memory/") > maxName || ConflictName(c, "host", 3) != c {
		t.Errorf("%q", c)
	}
}

func TestOwnersAndSubjects(t *testing.T) {
	for _, ref := range []ctxabi.Ref{{}, {UID: 1000}, {UID: 1<<32 - 2}, {Space: "team"}, {Space: "A.b_c+d-9"}, {Space: strings.Repeat("x", 120)}} {
		s := SubjectOf(ref)
		if got, err := OwnerOf(s); err != nil || got != ref || s.Check() != nil {
			t.Errorf("%+v: %q, %+v, %v", ref, s, got, err)
		}
	}
	for _, name := range []string{"", "u", "u01", "u4294967295", "s0", "szz", "x1"} {
		if ref, err := OwnerOf(engine.Subject{Owner: name}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%q is of %+v, %v", name, ref, err)
		}
	}
}

// Entries of a later version stop a state; what is malformed takes its place without an effect.
func TestLaterVersionsStopAState(t *testing.T) {
	for i, c := range []struct {
		row  journal.Row
		want error
	}{
		{journal.Row{Kind: 'z'}, journal.ErrVersion},
		{journal.Row{Kind: journal.Name, Content: []byte(`{"v":3,"op":"anything","x":[1]}`)}, journal.ErrVersion},
		{journal.Row{Kind: journal.Message, Content: []byte(`{}`)}, nil},
		{journal.Row{Kind: journal.Name, Content: []byte(`{"v":1, "op":"home"}`)}, nil},
		{journal.Row{Kind: journal.Name, Content: []byte(`{"v":1,"op":"remove","agent":"a","extra":1}`)}, nil},
		{journal.Row{Kind: journal.Name, Content: []byte(`{"v":1,"op":"remove","agent":"a","id":"x"}`)}, nil},
		{journal.Row{Kind: journal.Name, Content: agentRow("z").Row().Content, Body: []byte("x")}, nil},
	} {
		s := New(user)
		header, payload, next, err := journal.Seal(s.At(), "h", 1, append(rowsOf(home), c.row))
		if err != nil {
			t.Fatal(err)
		}
		before := s.At()
		a, err := s.Apply(engine.Entry{Seq: 1, ID: "h-1", Header: header, Payload: payload})
		_, made := s.Home()
		switch {
		case !errors.Is(err, c.want) || made:
			t.Errorf("%d: %v, home %v", i, err, made)
		case c.want != nil && s.At() != before:
			t.Errorf("%d: the state went on", i)
		case c.want == nil && (s.At() != next || !errors.Is(a.Refused, ctxabi.ErrMalformed) || a.Rows != nil):
			t.Errorf("%d: %+v", i, a)
		}
	}
}

// Whatever stands in a row, parsing it ends, and what is accepted has one form.
func FuzzParseRow(f *testing.F) {
	for _, rows := range example {
		for _, r := range rowsOf(rows...) {
			f.Add(byte(r.Kind), r.Content)
		}
	}
	f.Add(byte('f'), []byte(`{"v":1,"path":"agent/a/memory/\u0000","hash":""}`))
	f.Fuzz(func(t *testing.T, kind byte, content []byte) {
		r, err := parseRow(journal.Row{Kind: journal.Kind(kind), Content: content})
		if err != nil {
			if !errors.Is(err, journal.ErrVersion) && !errors.Is(err, ctxabi.ErrMalformed) && !errors.Is(err, ctxabi.ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		if got := r.Row(); byte(got.Kind) != kind || !bytes.Equal(got.Content, content) {
			t.Fatalf("%q is written as %q", content, got.Content)
		}
	})
}

// Whatever is taken for a state, its bytes are those of that state.
func FuzzDecode(f *testing.F) {
	s, j := New(user), &sealer{at: journal.Start(user)}
	for _, rows := range example {
		if _, err := s.Apply(j.entry(f, rows...)); err != nil {
			f.Fatal(err)
		}
		f.Add(s.Encode())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode(user, data)
		if err == nil && !bytes.Equal(s.Encode(), data) {
			t.Fatalf("%q is the state %q", data, s.Encode())
		}
	})
}
