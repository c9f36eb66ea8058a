package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

func TestMain(m *testing.M) {
	session.SetMaxInMemory(1000)
	session.SetSealMin(100, 4<<10)
	session.SetResident(256, 2)
	goleak.VerifyTestMain(suite.Wrap(m))
}

var (
	ctx  = context.Background()
	refA = ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}
	home = disk.Owner{UID: 1000, GID: 1000, Mode: 0o700}
	root = disk.Writer{UID: 1000, PID: 77}
)

func openStore(t testing.TB, dir string, o session.Options) *session.Store {
	t.Helper()
	s, err := session.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func create(t testing.TB, s *session.Store, ref ctxabi.Ref) *session.Session {
	t.Helper()
	x, err := s.Create(ref, home)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func msg(role, text string) string {
	return fmt.Sprintf(`{"role":%q,"content":%q}`+"\n", role, text)
}

func content(t testing.TB, l *log.Log) string {
	t.Helper()
	b := make([]byte, l.Len())
	if _, err := l.ReadAt(b, 0); err != nil && len(b) > 0 {
		t.Fatal(err)
	}
	return string(b)
}

func verified(t testing.TB, s *session.Store, ref ctxabi.Ref) {
	t.Helper()
	problems, err := check.Verify(ctx, s, ref)
	if err != nil || len(problems) > 0 {
		t.Fatalf("verify: %v %v", problems, err)
	}
}

func TestASessionIsCompleteAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openStore(t, dir, session.Options{})
	x := create(t, s, refA)
	var names []string
	filepath.WalkDir(x.Dir(), func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(x.Dir(), p)
		names = append(names, rel)
		return err
	})
	want := strings.Fields(". .ctxfs .ctxfs/arrivals .ctxfs/arrivals.events .ctxfs/errors.jsonl .ctxfs/id context context/budget " +
		"context/gc.policy context/pinned cwd events.jsonl messages.jsonl meta.json state")
	if !slices.Equal(names, want) {
		t.Errorf("a new session holds\n%q, want\n%q", names, want)
	}
	if x.State() != "idle" || x.Cwd() != "" || x.Policy() != ctxabi.DefaultPolicy() {
		t.Errorf("state %q cwd %q policy %+v", x.State(), x.Cwd(), x.Policy())
	}
	if _, ok := x.Budget(); ok {
		t.Error("a new session has a budget")
	}
	if _, err := s.Create(refA, home); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("second Create: %v", err)
	}
	if got := slices.Collect(s.Sessions()); !slices.Equal(got, []ctxabi.Ref{refA}) {
		t.Errorf("sessions %v", got)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "tmp")); len(left) > 0 {
		t.Errorf("left in tmp: %v", left)
	}
}

func TestAppendedRecordsAreThereAfterReopening(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	x := create(t, s, refA)
	var want strings.Builder
	for i := range 300 {
		rec := msg("user", fmt.Sprint("message ", i))
		want.WriteString(rec)
		if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(rec), Writer: root}); err != nil {
			t.Fatal(err)
		}
	}
	head, _ := x.Messages().Head()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir, session.Options{})
	y, err := s.Session(refA)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, y.Messages()); got != want.String() {
		t.Errorf("%d bytes, want %d", len(got), want.Len())
	}
	if h, _ := y.Messages().Head(); h != head || y.ID() != x.ID() {
		t.Error("head or id changed")
	}
	ix, err := y.Messages().Index()
	if err != nil || ix.Len() != 300 {
		t.Fatal(ix, err)
	}
	if rec, _ := ix.Record(300); !bytes.Contains(rec, []byte("message 299")) {
		t.Errorf("record 300 is %s", rec)
	}
	verified(t, s, refA)
}

func TestOneDaemonAStore(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	create(t, s, refA)
	if _, err := session.Open(dir, session.Options{}); !errors.Is(err, ctxabi.ErrLocked) {
		t.Errorf("second open: %v", err)
	}
	r := openStore(t, dir, session.Options{ReadOnly: true})
	if _, err := r.Session(refA); err != nil {
		t.Error(err)
	}
	if _, err := r.Create(ctxabi.Ref{Agent: "a", Session: "b"}, home); !errors.Is(err, ctxabi.ErrReadOnly) {
		t.Errorf("create in a read-only store: %v", err)
	}
}
