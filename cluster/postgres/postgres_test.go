package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ctxfs/ctxfs/cluster/shared"
	"github.com/ctxfs/ctxfs/cluster/shared/sharedtest"
	"github.com/ctxfs/ctxfs/internal/suite"
)

var background = context.Background()

// TestPostgres runs the contract and the rules that only a real server shows.
func TestPostgres(t *testing.T) {
	suite.Matrix(t, "it needs PostgreSQL")
	s := primary(t)
	t.Run("contract", func(t *testing.T) {
		sharedtest.Contract(t, func(t *testing.T, host string) shared.Store {
			return s.open(t, map[string]string{"a": "host_a", "b": "host_b", "c": "host_b"}[host])
		})
	})

	t.Run("migrate twice", func(t *testing.T) {
		if had, err := Migrate(background, Options{URL: s.url("admin")}); had != schemaVersion || err != nil {
			t.Errorf("version %d, %v", had, err)
		}
	})
	t.Run("roles see their owners only", func(t *testing.T) { testRoles(t, s) })
	t.Run("powerful roles are refused", func(t *testing.T) { testRefusedRoles(t, s) })
	t.Run("commits that do not wait are refused", func(t *testing.T) { testAsynchronous(t, s) })
	t.Run("no cancel request", func(t *testing.T) { testNoCancel(t, s) })
	t.Run("a lost answer is unknown", func(t *testing.T) { testLostAnswer(t, s) })
	t.Run("a repeat waits for the first attempt", func(t *testing.T) { testRepeat(t, s) })
}

// newSession creates a session of an owner.
func newSession(t *testing.T, s *Store, owner string) (journal shared.ID) {
	t.Helper()
	journal = shared.NewID()
	agent := shared.Agent{ID: shared.NewID(), Owner: owner, Name: journal.String()}
	if err := s.CreateAgent(background, agent); err != nil {
		t.Fatal(err)
	}
	err := s.CreateSession(background, shared.NewSession{
		Journal: journal, ID: shared.NewID(), Agent: agent.ID, Name: "s", Head: shared.Start(journal).Chain,
	})
	if err != nil {
		t.Fatal(err)
	}
	return journal
}

// entryAt returns an append of one row at a position.
func entryAt(t *testing.T, journal shared.ID, at shared.Position) (shared.Append, shared.Position) {
	t.Helper()
	e, next, err := shared.Seal(at, shared.NewID(), "host", 1, []shared.Row{{Kind: shared.Control, Body: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	return shared.Append{Journal: journal, Prev: at, Entry: e, Head: next.Chain}, next
}

// A role without a grant for an owner cannot read, write, or probe the owner's rows.
func testRoles(t *testing.T, s *testServer) {
	a, c := s.open(t, "host_a"), s.open(t, "host_c")
	journal := newSession(t, a, "u1")
	entry, _ := entryAt(t, journal, shared.Start(journal))
	sum, err := a.PutObject(background, "u1", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}

	page, err := c.Read(background, journal, 0)
	if !errors.Is(err, shared.ErrMissing) || page.Next != 0 {
		t.Errorf("read: %+v, %v", page, err)
	}
	if heads, _, err := c.Heads(background, []shared.ID{journal}); err != nil || len(heads) > 0 {
		t.Errorf("heads: %v, %v", heads, err)
	}
	if err := c.Append(background, entry); !errors.Is(err, shared.ErrConflict) {
		t.Errorf("append: %v", err)
	}
	if _, err := c.Object(background, "u1", sum, 6); !errors.Is(err, shared.ErrMissing) {
		t.Errorf("object: %v", err)
	}
	if _, err := c.PutObject(background, "u1", []byte("x")); !errors.Is(err, shared.ErrDenied) {
		t.Errorf("put object: %v", err)
	}
	if names, err := c.Names(background, "u1", 0); err != nil || names.Version != 0 || len(names.Sessions) > 0 {
		t.Errorf("names: %+v, %v", names, err)
	}
	if err := c.CreateAgent(background, shared.Agent{ID: shared.NewID(), Owner: "u1", Name: "x"}); err == nil {
		t.Error("an agent of another owner was created")
	}

	conn, err := pgx.Connect(background, s.url("host_c"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(background)
	for _, statement := range []string{
		"select * from ctxfs.ctx_entry", "select * from ctxfs.ctx_session", "select * from ctxfs.ctx_object",
		"insert into ctxfs.ctx_grant select oid, 'u1' from pg_roles where rolname = 'host_c'",
		"select ctxfs.may('u1')", "select ctxfs.enter('u1')", "delete from ctxfs.ctx_entry",
		"create function ctxfs.octet_length(bytea) returns int language sql as 'select 1'",
	} {
		if _, err := conn.Exec(background, statement); err == nil {
			t.Errorf("%s: no error", statement)
		}
	}
}

func testRefusedRoles(t *testing.T, s *testServer) {
	for _, role := range []string{"root", "admin"} {
		_, err := Connect(background, Options{URL: s.url(role), Host: "h"})
		if !errors.Is(err, ErrUnsafe) {
			t.Errorf("role %s: %v", role, err)
		}
	}
	for _, url := range []string{"postgres://u:secret@h/db", "host=h password=x", "host=example.org sslmode=require"} {
		if _, err := Connect(background, Options{URL: url, Host: "h"}); err == nil {
			t.Errorf("%s was accepted", url)
		}
	}
	none := strings.Replace(s.url("host_a"), "dbname=ctx", "dbname=postgres", 1)
	if _, err := Connect(background, Options{URL: none, Host: "h"}); !errors.Is(err, ErrSchema) {
		t.Errorf("a database without the schema: %v", err)
	}
}

// A pooler may drop the settings of a session; the functions then refuse to write.
func testAsynchronous(t *testing.T, s *testServer) {
	store := s.open(t, "host_a")
	journal := newSession(t, store, "u1")
	c := store.idle[0]
	if _, err := c.Exec(background, "set synchronous_commit = off"); err != nil {
		t.Fatal(err)
	}
	entry, _ := entryAt(t, journal, shared.Start(journal))
	if err := store.Append(background, entry); !errors.Is(err, ErrSettings) {
		t.Errorf("append: %v", err)
	}
	if _, err := store.Beat(background); !errors.Is(err, ErrSettings) {
		t.Errorf("heartbeat: %v", err)
	}
}

// watched counts cancel requests and can hold back answers of the server.
type watched struct {
	net.Conn
	cancels *atomic.Int32
	hold    *atomic.Bool
}

const cancelRequestCode = 80877102

func (w *watched) Write(p []byte) (int, error) {
	if len(p) >= 8 && binary.BigEndian.Uint32(p[4:]) == cancelRequestCode {
		w.cancels.Add(1)
	}
	return w.Conn.Write(p)
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if w.hold.Load() {
		w.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// watch returns a store of host_a and records its connections.
func watch(t *testing.T, s *testServer) (store *Store, cancels *atomic.Int32, hold *atomic.Bool) {
	t.Helper()
	cancels, hold = new(atomic.Int32), new(atomic.Bool)
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &watched{conn, cancels, hold}, err
	}
	store, err := Connect(background, Options{URL: s.url("host_a"), Host: "watched", Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store, cancels, hold
}

// testNoCancel ends a statement that waits for a lock: the connection is closed, and no cancel
// request is sent.
func testNoCancel(t *testing.T, s *testServer) {
	store, cancels, _ := watch(t, s)
	journal := newSession(t, store, "u1")
	unlock := lockJournal(t, s, journal)
	defer unlock()
	ctx, cancel := context.WithTimeout(background, 300*time.Millisecond)
	defer cancel()
	entry, _ := entryAt(t, journal, shared.Start(journal))
	if err := store.Append(ctx, entry); !errors.Is(err, shared.ErrUnknown) {
		t.Errorf("append: %v", err)
	}
	if _, err := store.Beat(background); err != nil { // the store still works
		t.Error(err)
	}
	if n := cancels.Load(); n != 0 {
		t.Errorf("%d cancel requests were sent", n)
	}
}

// lockJournal locks the row of a journal as a stalled host does.
func lockJournal(t *testing.T, s *testServer, journal shared.ID) (unlock func()) {
	t.Helper()
	conn, err := pgx.Connect(background, s.url("root"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"begin", fmt.Sprintf("select 1 from ctxfs.ctx_session where journal = '%s' for update", journal),
	} {
		if _, err := conn.Exec(background, statement); err != nil {
			t.Fatal(err)
		}
	}
	return func() { conn.Close(background) }
}

// testLostAnswer loses the answer of a commit that happened: the outcome is unknown, and a repeat
// finds the entry by its key.
func testLostAnswer(t *testing.T, s *testServer) {
	store, _, hold := watch(t, s)
	journal := newSession(t, store, "u1")
	first, next := entryAt(t, journal, shared.Start(journal))
	if err := store.Append(background, first); err != nil { // prepares the statement
		t.Fatal(err)
	}
	entry, _ := entryAt(t, journal, next)

	hold.Store(true)
	if err := store.Append(background, entry); !errors.Is(err, shared.ErrUnknown) {
		t.Errorf("append: %v", err)
	}
	hold.Store(false)
	if err := store.Append(background, entry); !errors.Is(err, shared.ErrConflict) {
		t.Errorf("repeat: %v", err)
	}
	page, err := store.Read(background, journal, 1)
	if err != nil || len(page.Entries) != 1 || page.Entries[0].Key != entry.Entry.Key {
		t.Errorf("page %+v, %v", page, err)
	}
}

// testRepeat gives up an append that waits for a lock, and repeats it: it is stored once.
func testRepeat(t *testing.T, s *testServer) {
	store := s.open(t, "host_a")
	journal := newSession(t, store, "u1")
	unlock := lockJournal(t, s, journal)
	ctx, cancel := context.WithTimeout(background, 300*time.Millisecond)
	defer cancel()
	entry, _ := entryAt(t, journal, shared.Start(journal))
	if err := store.Append(ctx, entry); !errors.Is(err, shared.ErrUnknown) {
		t.Errorf("append: %v", err)
	}
	unlock()
	if err := store.Append(background, entry); err != nil && !errors.Is(err, shared.ErrConflict) {
		t.Errorf("repeat: %v", err)
	}
	page, err := store.Read(background, journal, 0)
	if err != nil || page.Next != 1 || len(page.Entries) != 1 {
		t.Errorf("page %+v, %v", page, err)
	}
}

// A commit whose wait for the standby ended early is visible, and a fail-over loses it. The host
// that wrote it learns that its outcome is unknown, and a fence after a read does not pass.
func TestFailOverLosesVisibleEntries(t *testing.T) {
	suite.Matrix(t, "it needs PostgreSQL")
	first := primary(t, "wal_level=replica", "max_wal_senders=4", "hot_standby=on")
	standby := newServer(t)
	standby.run("pg_basebackup", "-h", first.dir, "-U", "root", "-D", standby.data(), "-R", "-c", "fast")
	connection := fmt.Sprintf("primary_conninfo=host=%s user=root application_name=standby", first.dir)
	standby.start("hot_standby=on", strings.ReplaceAll(connection, "'", ""))
	t.Cleanup(standby.stop)

	root, err := pgx.Connect(background, first.url("root"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close(background)
	for _, statement := range []string{
		"grant pg_monitor to admin", "alter system set synchronous_standby_names = 'standby'",
		"select pg_reload_conf()",
	} {
		if _, err := root.Exec(background, statement); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the standby is synchronous", func() bool {
		var n int
		err := root.QueryRow(background, "select count(*) from pg_stat_replication where sync_state = 'sync'").Scan(&n)
		return err == nil && n == 1
	})

	a, b := first.open(t, "host_a"), first.open(t, "host_b")
	if answer, err := a.Durability(background); answer != "two servers" || err != nil {
		t.Errorf("durability: %q, %v", answer, err)
	}
	journal := newSession(t, a, "u1")
	kept, next := entryAt(t, journal, shared.Start(journal))
	if err := a.Append(background, kept); err != nil {
		t.Fatal(err)
	}

	// From now on the standby receives nothing. An operator cancels the wait of the next commit.
	standby.stop()
	lost, _ := entryAt(t, journal, next)
	outcome := make(chan error, 1)
	go func() { outcome <- a.Append(background, lost) }()
	await(t, "the commit waits for the standby", func() bool {
		const query = "select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event = 'SyncRep'"
		var n int
		return root.QueryRow(background, query).Scan(&n) == nil && n > 0
	})
	if err := <-outcome; !errors.Is(err, shared.ErrUnknown) {
		t.Errorf("a commit whose wait was canceled: %v, want an unknown outcome", err)
	}
	page, err := b.Read(background, journal, 0)
	if err != nil || len(page.Entries) != 2 {
		t.Fatalf("page %+v, %v", page, err)
	}
	ctx, cancel := context.WithTimeout(background, time.Second)
	defer cancel()
	if err := b.Fence(ctx, page.Server); err == nil {
		t.Error("a fence passed without the standby")
	}

	first.stop()
	if err := os.Rename(filepath.Join(first.dir, "data"), filepath.Join(first.dir, "old")); err != nil {
		t.Fatal(err)
	}
	standby.start()
	standby.run("pg_ctl", "-D", standby.data(), "-w", "promote")
	after := standby.open(t, "host_b")
	if answer, err := after.Durability(background); answer == "two servers" || err != nil {
		t.Errorf("durability without a standby: %q, %v", answer, err)
	}
	page, err = after.Read(background, journal, 0)
	if err != nil || len(page.Entries) != 1 || page.Entries[0].Key != kept.Entry.Key {
		t.Errorf("after the fail-over: %+v, %v", page, err)
	}
	if err := after.Fence(background, page.Server); err != nil {
		t.Error(err)
	}
}

// await waits for a condition, up to a minute.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("not after a minute: %s", what)
}
