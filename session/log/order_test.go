package log_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

var (
	refA = ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}
	home = disk.Owner{UID: 1000, GID: 1000, Mode: 0o700}
)

// storeOf opens a store on a disk of its own.
func storeOf(t *testing.T, o session.Options) (*session.Store, *sessiontest.Disk) {
	t.Helper()
	d := sessiontest.New()
	o.VFS, o.Now = d, d.Now
	s, err := session.Open("/store", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, d
}

// commits returns what was committed to a session: the rows and the bytes of both logs, in one order.
func commits(t *testing.T, d *sessiontest.Disk, x *session.Session) (rows []struct {
	log       string
	row, data []byte
}) {
	t.Helper()
	read := func(name string) []byte {
		b, err := vfs.ReadFile(d, path.Join(x.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	events := slices.Collect(bytes.Lines(read(log.ArrivalsFile(ctxabi.EventsFile))))
	add := func(name string, row []byte) arrival.Row {
		a, ok := arrival.ParseRow(bytes.TrimSuffix(row, []byte("\n")))
		if !ok {
			t.Fatalf("%s has the row %q", name, row)
		}
		rows = append(rows, struct {
			log       string
			row, data []byte
		}{name, row, read(name)[a.Off:a.End()]})
		return a
	}
	size := int64(0)
	upTo := func(end int64) {
		for size < end {
			a := add(ctxabi.EventsFile, events[0])
			size, events = a.End(), events[1:]
		}
	}
	for row := range bytes.Lines(read(log.ArrivalsFile(ctxabi.MessagesFile))) {
		a, _ := arrival.ParseRow(bytes.TrimSuffix(row, []byte("\n")))
		upTo(a.Events)
		add(ctxabi.MessagesFile, row)
	}
	for len(events) > 0 {
		upTo(size + 1)
	}
	return rows
}

// A log to which the commits of another one are applied is its copy, byte for byte, and shows the same.
func TestALogIsWhatIsAppliedToIt(t *testing.T) {
	s, mem := storeOf(t, session.Options{})
	x, err := s.Create(refA, home)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		l, rec := x.Messages(), fmt.Sprintf(`{"role":"user","content":"%d"}`+"\n", i)
		if i%3 == 1 {
			l, rec = x.Events(), fmt.Sprintf(`{"type":"tool_call","id":"c%d","name":"f","arguments":"{}"}`+"\n", i)
		}
		if _, err := l.Append(t.Context(), log.Batch{Data: []byte(rec), Writer: disk.Writer{UID: 1000, PID: 7}, Key: arrival.Key{Conn: 1, Unique: uint64(i + 1)}}); err != nil {
			t.Fatal(err)
		}
	}
	other, copied := storeOf(t, session.Options{})
	if err := other.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: refA, Owner: home, ID: x.ID()}); err != nil {
		t.Fatal(err)
	}
	y, err := other.Session(refA)
	if err != nil {
		t.Fatal(err)
	}
	rows := commits(t, mem, x)
	if len(rows) != 40 {
		t.Fatalf("%d commits", len(rows))
	}
	for i, c := range rows {
		l := y.Messages()
		if c.log == ctxabi.EventsFile {
			l = y.Events()
		}
		if err := l.Apply(c.row, c.data); err != nil {
			t.Fatal(err)
		}
		if i%7 == 0 {
			if _, err := y.Timeline(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile, log.ArrivalsFile(ctxabi.MessagesFile), log.ArrivalsFile(ctxabi.EventsFile)} {
		want, err := vfs.ReadFile(mem, path.Join(x.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := vfs.ReadFile(copied, path.Join(y.Dir(), name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not the same: %v", name, err)
		}
	}
	a, err := x.Messages().Tail()
	if b, failed := y.Messages().Tail(); err != nil || failed != nil || a != b || a.Size != y.Messages().Len() {
		t.Errorf("the logs end at %+v and %+v: %v, %v", a, b, err, failed)
	}
	was, err := x.Timeline()
	if is, failed := y.Timeline(); err != nil || failed != nil || len(was.Tools) == 0 || !slices.Equal(is.Tools, was.Tools) {
		t.Errorf("the orders are not the same: %v, %v", err, failed)
	}
	if found, err := check.Verify(t.Context(), other, refA); err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
	// A request that was committed there is not committed here again.
	again := log.Batch{Data: []byte(`{"role":"user","content":"39"}` + "\n"), Key: arrival.Key{Conn: 1, Unique: 40}}
	if _, err := y.Messages().Append(t.Context(), again); err != nil || y.Messages().Len() != a.Size {
		t.Errorf("a request was committed twice: %v", err)
	}
}

func TestWhatDoesNotFitIsNotApplied(t *testing.T) {
	s, mem := storeOf(t, session.Options{})
	x, err := s.Create(refA, home)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, err := x.Messages().Append(t.Context(), log.Batch{Data: fmt.Appendf(nil, `{"role":"user","content":"%d"}`+"\n", i)}); err != nil {
			t.Fatal(err)
		}
	}
	rows := commits(t, mem, x)
	other, copied := storeOf(t, session.Options{})
	if err := other.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: refA, Owner: home, ID: x.ID()}); err != nil {
		t.Fatal(err)
	}
	y, err := other.Session(refA)
	if err != nil {
		t.Fatal(err)
	}
	l, row, data := y.Messages(), rows[0].row, rows[0].data
	chained := func() []byte {
		a, _ := arrival.ParseRow(bytes.TrimSuffix(row, []byte("\n")))
		a.Chain[0] ^= 1
		return arrival.AppendRow(nil, &a)
	}()
	for _, c := range []struct {
		what      string
		row, data []byte
		want      error
	}{
		{"the one behind it", rows[1].row, rows[1].data, ctxabi.ErrConflict},
		{"another chain", chained, data, ctxabi.ErrConflict},
		{"other records", row, bytes.Replace(data, []byte("0"), []byte("1"), 1), ctxabi.ErrMalformed},
		{"fewer records", row, nil, ctxabi.ErrMalformed},
		{"a row without its newline", bytes.TrimSuffix(row, []byte("\n")), data, ctxabi.ErrMalformed},
		{"a row that was changed", append([]byte{row[0], row[1], row[2] ^ 1}, row[3:]...), data, ctxabi.ErrMalformed},
		{"twice the first", slices.Concat(row, row), slices.Concat(data, data), ctxabi.ErrConflict},
		{"other records behind the first", slices.Concat(row, rows[1].row), slices.Concat(data, data), ctxabi.ErrMalformed},
		{"a row too few", row, slices.Concat(data, rows[1].data), ctxabi.ErrMalformed},
		{"nothing", nil, nil, ctxabi.ErrMalformed},
	} {
		if err := l.Apply(c.row, c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
	copied.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: 2, Changes: true})
	if err := l.Apply(slices.Concat(row, rows[1].row), slices.Concat(data, rows[1].data)); !errors.Is(err, ctxabi.ErrNoSpace) {
		t.Errorf("on a full disk: %v", err)
	}
	copied.Heal()
	if tail, err := l.Tail(); err != nil || tail.Size != 0 || l.Len() != 0 {
		t.Fatalf("something was taken: %+v, %v", tail, err)
	}
	for i := range rows {
		if err := l.Apply(rows[i].row, rows[i].data); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Apply(rows[1].row, rows[1].data); !errors.Is(err, ctxabi.ErrConflict) {
		t.Errorf("twice: %v", err)
	}
	if found, err := check.Verify(t.Context(), other, refA); err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
}

// together is a committer that may want one turn for both logs, and of which a test decides when it goes on.
type together struct {
	log.Committer
	shared         bool
	entered, leave chan struct{}
}

func (c *together) SharesTurn() bool { return c.shared }

func (c *together) Commit(ctx context.Context, l *log.Log, b log.Batch, expected int64) (int64, error) {
	if l.Name() == ctxabi.MessagesFile {
		close(c.entered)
		<-c.leave
	}
	return c.Committer.Commit(ctx, l, b, expected)
}

func TestBothLogsHaveOneTurnWhereTheCommitterWantsThat(t *testing.T) {
	for _, shared := range []bool{false, true} {
		c := &together{Committer: log.Local(), shared: shared, entered: make(chan struct{}), leave: make(chan struct{})}
		s, _ := storeOf(t, session.Options{Committer: c})
		x, err := s.Create(refA, home)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := x.Messages().Append(t.Context(), log.Batch{Data: []byte(`{"role":"user","content":"m"}` + "\n")})
			done <- err
		}()
		<-c.entered
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // whoever would have to wait gives up at once
		_, err = x.Events().Append(ctx, log.Batch{Data: []byte(`{"type":"x"}` + "\n")})
		if waits := errors.Is(err, context.Canceled); waits != shared || !shared && err != nil {
			t.Errorf("shared %v: an event beside a message: %v", shared, err)
		}
		close(c.leave)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if _, err := x.Events().Append(t.Context(), log.Batch{Data: []byte(`{"type":"x"}` + "\n")}); err != nil {
			t.Errorf("shared %v: after it: %v", shared, err)
		}
		if err := s.Remove(refA); err != nil { // which holds the turns of both
			t.Errorf("shared %v: remove: %v", shared, err)
		}
	}
}
