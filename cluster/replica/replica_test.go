package replica

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestMain(m *testing.M) { suite.Main(m) }

// master writes a journal as a host does that never fails.
type master struct {
	t    *testing.T
	e    *fake.Host
	s    engine.Subject
	at   journal.Position
	last uint64
	tail log.Tail // of messages
}

// put appends an entry of rows.
func (m *master) put(rows ...journal.Row) engine.Entry {
	m.t.Helper()
	header, payload, next, err := journal.Seal(m.at, "master", ctxabi.FormatVersion, rows)
	if err != nil {
		m.t.Fatal(err)
	}
	id := fmt.Sprint("master-", m.at.I)
	seq, err := m.e.Append(context.Background(), m.s, m.last, id, header, payload)
	if err != nil {
		m.t.Fatal(err)
	}
	m.at, m.last = next, seq
	return engine.Entry{Seq: seq, ID: id, Header: header, Payload: payload}
}

// record returns the row of a message.
func (m *master) record(text string) journal.Row {
	data := fmt.Appendf(nil, `{"role":"user","content":%q}`+"\n", text)
	row := journal.Row{Kind: journal.Message, Body: data}
	row.Content, m.tail = m.tail.Order(nil, arrival.Row{Len: int64(len(data)), SHA: sha256.Sum256(data), At: 1})
	return row
}

// setup returns a session, its copy, and who writes its journal.
func setup(t *testing.T, o Options) (*fake.Servers, *master, *Copy) {
	servers := fake.New()
	_, x := sessiontest.Session(t, t.TempDir(), session.Options{})
	s := engine.Subject{Owner: "u1000", Session: x.ID()}
	m := &master{t: t, e: servers.Host("master"), s: s, at: journal.Start(s)}
	var err error
	if m.tail, err = x.Messages().Tail(); err != nil {
		t.Fatal(err)
	}
	if o.Engine == nil {
		o.Engine = servers.Host("copy")
	}
	c, err := Open(x, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return servers, m, c
}

func TestARowOfAPositionIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Position{Seq: rapid.Uint64().Draw(t, "seq"), Host: rapid.SampledFrom([]string{"", "a", "host-1"}).Draw(t, "host"),
			Messages: log.Mark{Size: rapid.Int64Min(0).Draw(t, "size"), Arrivals: rapid.Int64Min(0).Draw(t, "rows")}}
		p.I = rapid.Uint64().Draw(t, "i")
		copy(p.Chain[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "chain"))
		row := p.row()
		line := row[:len(row)-1]
		if got, ok := parsePosition(line); !ok || got != p {
			t.Fatalf("%q is %+v, want %+v", line, got, p)
		}
		at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
		line[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if got, ok := parsePosition(line); ok {
			t.Fatalf("%q with a flipped bit is %+v", line, got)
		}
	})
}

// What one replica has lost comes from the leader, and never a part of the journal.
func TestWhatOneReplicaHasLostComesFromTheLeader(t *testing.T) {
	servers, m, c := setup(t, Options{})
	for i := range 6 {
		m.put(m.record(fmt.Sprint(i)))
	}
	for _, replica := range []int{1, 2} {
		servers.Lose(m.s.Shard(), replica, 3)
	}
	if err := c.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Position().Position != m.at || c.Session().Messages().Len() != m.tail.Size {
		t.Errorf("the copy is at %+v", c.Position())
	}
	m.put(m.record("lost"))
	m.put(m.record("behind"))
	for replica := range 3 {
		servers.Lose(m.s.Shard(), replica, m.last-1)
	}
	if err := c.Confirm(t.Context()); !errors.Is(err, journal.ErrGap) || c.Position().I != m.at.I-2 {
		t.Errorf("over a gap: %v, at %d of %d", err, c.Position().I, m.at.I)
	}
}

func TestWhatAppendDidNotStoreTakesItsPlace(t *testing.T) {
	_, _, c := setup(t, Options{})
	if err := c.Apply(t.Context(), engine.Entry{Seq: 7, Payload: []byte("?")}); err != nil {
		t.Fatal(err)
	}
	if at := c.Position(); at.Seq != 7 || at.I != 0 {
		t.Errorf("the copy is at %+v", at)
	}
}

func TestASessionWithRecordsOfItsOwnIsNoCopy(t *testing.T) {
	_, x := sessiontest.Session(t, t.TempDir(), session.Options{})
	if _, err := x.Messages().Append(t.Context(), log.Batch{Data: []byte(`{"role":"user","content":"mine"}` + "\n")}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(x, engine.Subject{Owner: "u1000", Session: x.ID()}, Options{}); !errors.Is(err, ctxabi.ErrIO) || !strings.Contains(err.Error(), ErrNoCopy.Error()) {
		t.Errorf("%v", err)
	}
}

// Rows that do not fit the log, or would leave the session, change nothing.
func TestRowsThatDoNotFitAreRefused(t *testing.T) {
	_, m, c := setup(t, Options{})
	m.put(m.record("first"))
	if err := c.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	was := c.Session().Messages().Len()
	for _, name := range []string{"../../x", ".ctxfs/id", "messages.jsonl", "/etc/passwd", "."} {
		for _, kind := range []session.ChangeKind{session.SetFile, session.RemoveFile} {
			change := &Change{Change: session.Change{Kind: kind, Name: name, Data: []byte("x")}}
			if err := change.check(); !errors.Is(err, ctxabi.ErrMalformed) {
				t.Errorf("%s %q: %v", kind, name, err)
			}
		}
	}
	good := m.record("good")
	m.record("not there") // so that the next one does not follow
	m.put(good, m.record("bad"))
	if err := c.Confirm(t.Context()); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("a row that does not follow: %v", err)
	}
	if c.Session().Messages().Len() != was || c.Position().I != 1 {
		t.Error("a part of the entry was applied")
	}
}

func TestARowOfAnUnknownKindStopsTheCopy(t *testing.T) {
	var handled []string
	_, m, c := setup(t, Options{Handlers: map[journal.Kind]Handler{journal.Part: func(_ context.Context, _ *session.Session, e *journal.Entry, row *journal.Row) error {
		handled = append(handled, fmt.Sprint(e.I, string(row.Content)))
		return nil
	}}})
	m.put(journal.Row{Kind: journal.Part, Content: []byte("p")})
	m.put(journal.Row{Kind: '?'})
	if err := c.Confirm(t.Context()); !errors.Is(err, journal.ErrVersion) || c.Position().I != 1 {
		t.Errorf("%v at %d", err, c.Position().I)
	}
	if fmt.Sprint(handled) != "[0p]" {
		t.Errorf("%q", handled)
	}
}

// An entry whose body is not there yet is applied when it is, and nothing behind it before.
func TestABodyIsWaitedFor(t *testing.T) {
	_, m, c := setup(t, Options{})
	row := m.record(strings.Repeat("x", journal.MaxBody))
	body := row.Body
	row.Body = nil
	m.put(row)
	m.put(m.record("behind"))
	if err := c.Confirm(t.Context()); !errors.Is(err, engine.ErrNotFound) || c.Position().I != 0 {
		t.Errorf("%v at %d", err, c.Position().I)
	}
	if err := m.e.Objects().Put(t.Context(), BodyKey(m.s, sha256.Sum256(body)), body); err != nil {
		t.Fatal(err)
	}
	if err := c.Confirm(t.Context()); err != nil || c.Position().Position != m.at {
		t.Errorf("%v at %d", err, c.Position().I)
	}
}

func TestWhatWasTrimmedComesFromASnapshot(t *testing.T) {
	var snapshot Position
	restored := 0
	servers, m, c := setup(t, Options{Restore: func(_ context.Context, _ *session.Session, _ engine.Subject, from uint64) (Position, error) {
		if restored++; from != 0 || snapshot.I == 0 {
			return Position{}, errors.New("there is none")
		}
		return snapshot, nil
	}})
	for range 3 {
		m.put()
	}
	at := Position{Position: m.at, Seq: m.last, Host: "master"}
	m.put(m.record("behind it"))
	if err := servers.Maintenance().Trim(t.Context(), m.s, m.last); err != nil {
		t.Fatal(err)
	}
	if err := c.Confirm(t.Context()); !errors.Is(err, ErrTrimmed) || restored != 1 {
		t.Errorf("without a snapshot: %v", err)
	}
	snapshot = at
	if err := c.Confirm(t.Context()); err != nil || c.Position().Position != m.at {
		t.Errorf("%v at %d", err, c.Position().I)
	}
}

func TestChangesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Change{Key: arrival.Key{Conn: rapid.Uint64().Draw(t, "conn"), Unique: rapid.Uint64().Draw(t, "unique")}, Host: rapid.String().Draw(t, "host")}
		c.At, c.Edit = rapid.Int64().Draw(t, "at"), session.Edit{Known: rapid.Bool().Draw(t, "known"), UID: rapid.Uint32().Draw(t, "uid"), Seen: rapid.Uint64().Draw(t, "seen"), Only: rapid.Bool().Draw(t, "only")}
		c.Kind = rapid.SampledFrom([]session.ChangeKind{session.SetFile, session.RemoveFile, session.DropFile, session.SetTime, session.SetNote, session.MakeChild, session.RenameChild}).Draw(t, "kind")
		c.Name, c.To = rapid.String().Draw(t, "name"), rapid.String().Draw(t, "to")
		c.SetBody(rapid.SliceOf(rapid.Byte()).Draw(t, "body"))
		row, body := c.Row()
		got, sum, err := ParseChange(&row)
		got.SetBody(row.Body)
		if err != nil || sum != nil || string(body) != string(row.Body) || fmt.Sprint(got) != fmt.Sprint(c) {
			t.Fatalf("%v %x %v, want %v", got, sum, err, c)
		}
		row.Content = row.Content[:rapid.IntRange(0, len(row.Content)-1).Draw(t, "cut")]
		if _, _, err := ParseChange(&row); !errors.Is(err, journal.ErrDamaged) {
			t.Fatalf("cut: %v", err)
		}
	})
}

// The form of rows of changes, which journals keep for ever.
func TestTheFormOfAChange(t *testing.T) {
	c := Change{Change: session.Change{Kind: session.SetNote, Name: "context/todo.md", To: "mixed", Data: []byte("- [ ] a\n"), Was: []byte{1, 2}, At: 1_700_000_000_000_000_000,
		Edit: session.Edit{Known: true, UID: 1000, Seen: 7, Only: true}}, Key: arrival.Key{Conn: 5, Unique: 6}, Host: "b"}
	row, _ := c.Row()
	want := "046e6f7465" + "0f636f6e746578742f746f646f2e6d64" + "056d69786564" +
		"2d" + "0000000000000005" + "0000000000000006" + "17979cfe362a0000" + "0000000000000008" + "0000000000000007" + "000003e8" + "03" +
		"00" + "020102" + "0162"
	if got := fmt.Sprintf("%x", row.Content); got != want || row.Kind != journal.Control || string(row.Body) != "- [ ] a\n" {
		t.Errorf("%s\n%s", got, want)
	}
}

func TestSetsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Sets{}
		for name := range rapid.MapOf(rapid.String(), rapid.Bool()).Draw(t, "names") {
			c := Change{Change: session.Change{Kind: session.SetFile, At: rapid.Int64().Draw(t, "at")}, Host: rapid.SampledFrom([]string{"", "a", "b-2"}).Draw(t, "host")}
			c.Len = uint64(rapid.Int64Min(0).Draw(t, "size"))
			c.Edit.Known, c.Edit.UID = rapid.Bool().Draw(t, "known"), rapid.Uint32().Draw(t, "uid")
			s[name] = c.Revision(rapid.Uint64().Draw(t, "i"))
		}
		b := s.Encode()
		got, err := ParseSets(b)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(s) {
			t.Fatalf("%v %v, want %v", got, err, s)
		}
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if got, err := ParseSets(b); err == nil {
			t.Fatalf("with a flipped bit: %v", got)
		}
	})
}

// A copy that is older than its files applies what was applied before, and ends as it was.
func TestFilesAreNeverOlderThanTheyWere(t *testing.T) {
	_, m, c := setup(t, Options{})
	set := func(text string, e session.Edit) journal.Row {
		row, _ := (&Change{Change: session.Change{Kind: session.SetFile, Name: ctxabi.StateFile, Data: []byte(text), Edit: e}, Host: "b", Key: arrival.Key{Conn: m.at.I}}).Row()
		return row
	}
	m.put(set("active\n", session.Edit{}))
	if err := c.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := c.Position()
	m.put(set("idle\n", session.Edit{}))
	m.put(set("error\n", session.Edit{Known: true, Seen: 1, Only: true})) // stale
	m.put(set("done\n", session.Edit{Known: true, Seen: 2, Only: true}))
	if err := c.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	was := c.sets.all.Encode()
	c.set(old) // as after a loss of power, which took the last positions
	for _, e := range must(m.e.Read(t.Context(), m.s, engine.Range{From: old.Seq + 1, Leader: true})) {
		if err := c.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if state := c.Session().State(); state != "done" {
			t.Errorf("at entry %d the state is %q", c.Position().I, state)
		}
	}
	if got := c.sets.all.Encode(); string(got) != string(was) {
		t.Errorf("%s, and it was %s", got, was)
	}
	again, err := Open(c.Session(), m.s, c.o)
	if err != nil {
		t.Fatal(err)
	}
	if last, ok := again.LastSet(ctxabi.StateFile); !ok || last.Entry != 3 || last.Host != "b" {
		t.Errorf("%v %v", last, ok)
	}
}

// Files of a child follow it to its new name.
func TestSetsFollowAChild(t *testing.T) {
	_, m, c := setup(t, Options{})
	put := func(change session.Change) {
		row, _ := (&Change{Change: change, Host: "b", Key: arrival.Key{Conn: 1 + m.at.I}}).Row()
		m.put(row)
	}
	status := ctxabi.ChildPath("one") + "/" + ctxabi.ChildStatus
	put(session.Change{Kind: session.MakeChild, Name: "one"})
	put(session.Change{Kind: session.SetFile, Name: status, Data: []byte("done\n")})
	put(session.Change{Kind: session.RenameChild, Name: "one", To: "two"})
	if err := c.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if last, ok := c.LastSet(ctxabi.ChildPath("two") + "/" + ctxabi.ChildStatus); !ok || last.Entry != 1 {
		t.Errorf("%v %v", last, ok)
	}
	if _, ok := c.LastSet(status); ok {
		t.Error("the old name has it, too")
	}
}

func TestOfManyRemovedFilesTheLastAreRemembered(t *testing.T) {
	s := Sets{}
	for i := range 2 * maxRemoved {
		s.set(fmt.Sprint("removed ", i), session.Revision{Entry: uint64(i), Size: -1})
		s.set(fmt.Sprint("there ", i%100), session.Revision{Entry: uint64(i)})
	}
	if len(s) != maxRemoved+100 || s[fmt.Sprint("removed ", 2*maxRemoved-1)].Size != -1 {
		t.Errorf("%d are remembered", len(s))
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
