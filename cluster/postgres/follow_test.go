package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ctxfs/ctxfs/cluster/follower"
	"github.com/ctxfs/ctxfs/cluster/shared"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// copyInMemory is the local copy of one host.
type copyInMemory struct {
	mu      sync.Mutex
	mark    follower.Mark
	records []string
}

func (c *copyInMemory) Load() (follower.Mark, error)                   { return c.mark, nil }
func (c *copyInMemory) Seeds() [2]arrival.Hash                         { return [2]arrival.Hash{} }
func (c *copyInMemory) Note(m follower.Mark) error                     { c.mark = m; return nil }
func (c *copyInMemory) SetAside() error                                { return errors.New("not expected") }
func (c *copyInMemory) Drop() error                                    { return errors.New("not expected") }
func (c *copyInMemory) ChainAt(uint64) (h shared.Hash, ok bool)        { return h, false }
func (c *copyInMemory) RecordsFrom(uint64) ([]follower.Request, error) { return nil, nil }

func (c *copyInMemory) Apply(e *shared.Opened, after follower.Mark) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark = after
	for _, row := range e.Rows {
		c.records = append(c.records, string(row.Body))
	}
	return nil
}

// testHost is a host that follows one journal.
type testHost struct {
	name  string
	copy  *follower.Copy
	files *copyInMemory
}

// follow starts a host for a journal.
func follow(t *testing.T, s *testServer, role string, journal shared.ID) *testHost {
	t.Helper()
	h := &testHost{name: role[5:], files: new(copyInMemory)}
	node := follower.NewHost(s.open(t, role), follower.Options{Name: h.name, Format: 1})
	ctx, cancel := context.WithCancel(background)
	done := make(chan struct{})
	go func() { node.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })

	var err error
	h.copy, err = node.Open("u1", journal, func() (follower.Files, error) { return h.files, nil })
	if err != nil {
		t.Fatal(err)
	}
	looked, end := context.WithTimeout(background, 30*time.Second)
	defer end()
	if err := h.copy.Look(looked); err != nil {
		t.Fatal(err)
	}
	return h
}

// write appends records one after the other until stop is closed or n are written. It returns those
// that were acknowledged, and those of unknown outcome.
func (h *testHost) write(writer, n int, stop <-chan struct{}) (stored, unknown []string) {
	for i := range n {
		select {
		case <-stop:
			return stored, unknown
		default:
		}
		body := fmt.Sprintf("%s/%d/%d\n", h.name, writer, i)
		ctx, cancel := context.WithTimeout(background, 30*time.Second)
		_, err := h.copy.Commit(ctx, follower.Request{Kind: shared.Message, Body: []byte(body)})
		cancel()
		if err == nil {
			stored = append(stored, body)
		} else if errors.Is(err, shared.ErrUnknown) {
			unknown = append(unknown, body)
		}
	}
	return stored, unknown
}

// writeAll lets four writers of each host write at the same time.
func writeAll(hosts []*testHost, n int, stop <-chan struct{}) (stored, unknown []string) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, h := range hosts {
		for writer := range 4 {
			all.Go(func() {
				s, u := h.write(writer, n, stop)
				mu.Lock()
				defer mu.Unlock()
				stored, unknown = append(stored, s...), append(unknown, u...)
			})
		}
	}
	all.Wait()
	return stored, unknown
}

// compare checks that all copies are equal, and have each acknowledged record once and each other
// record at most once.
func compare(t *testing.T, hosts []*testHost, stored, unknown []string) {
	t.Helper()
	for _, h := range hosts {
		ctx, cancel := context.WithTimeout(background, 30*time.Second)
		if err := h.copy.Look(ctx); err != nil {
			t.Errorf("host %s: %v", h.name, err)
		}
		cancel()
		if !slices.Equal(h.files.records, hosts[0].files.records) {
			t.Errorf("the copies of %s and %s differ", h.name, hosts[0].name)
		}
	}

	count := map[string]int{}
	for _, body := range hosts[0].files.records {
		count[body]++
	}
	for _, body := range stored {
		if count[body] != 1 {
			t.Errorf("record %q is there %d times", body, count[body])
		}
		delete(count, body)
	}
	for _, body := range unknown {
		if count[body] > 1 {
			t.Errorf("record %q of unknown outcome is there %d times", body, count[body])
		}
		delete(count, body)
	}
	if len(count) > 0 {
		t.Errorf("%d records that nobody acknowledged: %v", len(count), count)
	}
}

func TestTwoHostsShareASession(t *testing.T) {
	suite.Matrix(t, "it needs PostgreSQL")
	s := primary(t)
	store := s.open(t, "host_a")
	alone := []*testHost{follow(t, s, "host_a", newSession(t, store, "u1"))}
	began := time.Now()
	stored, unknown := writeAll(alone, 200, nil)
	single := time.Since(began)
	compare(t, alone, stored, unknown)

	journal := newSession(t, store, "u1")
	both := []*testHost{follow(t, s, "host_a", journal), follow(t, s, "host_b", journal)}
	began = time.Now()
	stored, unknown = writeAll(both, 200, nil)
	shared := time.Since(began)
	compare(t, both, stored, unknown)
	if len(stored) != 8*200 {
		t.Errorf("%d records were acknowledged, want %d", len(stored), 8*200)
	}
	t.Logf("four writers alone: %v; with four writers of another host on the session: %v (rate %.2f)",
		single, shared, single.Seconds()/shared.Seconds())

	bare, err := pgx.Connect(background, s.url("root"))
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close(background)
	if _, err := bare.Exec(background, "create table bare (i bigint primary key, b bytea)"); err != nil {
		t.Fatal(err)
	}
	inserts, appends := make([]time.Duration, 300), make([]time.Duration, 300)
	for i := range inserts {
		began := time.Now()
		if _, err := bare.Exec(background, "insert into bare values ($1, $2)", i, make([]byte, 1024)); err != nil {
			t.Fatal(err)
		}
		inserts[i], began = time.Since(began), time.Now()
		_, err := alone[0].copy.Commit(background, follower.Request{Kind: 'm', Body: make([]byte, 900)})
		if err != nil {
			t.Fatal(err)
		}
		appends[i] = time.Since(began)
	}
	slices.Sort(inserts)
	slices.Sort(appends)
	t.Logf("p50 of a bare insert of 1 KiB %v, of a commit %v (%.2f times)", inserts[150], appends[150],
		appends[150].Seconds()/inserts[150].Seconds())
}

// The server is killed and started again while two hosts write.
func TestCrashesLoseNothing(t *testing.T) {
	suite.Matrix(t, "it needs PostgreSQL")
	s := primary(t)
	journal := newSession(t, s.open(t, "host_a"), "u1")
	hosts := []*testHost{follow(t, s, "host_a", journal), follow(t, s, "host_b", journal)}
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for range 6 {
			time.Sleep(time.Second)
			s.stop()
			s.start()
		}
		time.Sleep(time.Second)
	}()
	stored, unknown := writeAll(hosts, 1<<20, stop)
	compare(t, hosts, stored, unknown)
	t.Logf("%d records acknowledged, %d of unknown outcome", len(stored), len(unknown))
}

// A schema that is missing leaves the copy readable, and no write is accepted.
func TestMissingSchemaKeepsTheCopy(t *testing.T) {
	suite.Matrix(t, "it needs PostgreSQL")
	s := primary(t)
	journal := newSession(t, s.open(t, "host_a"), "u1")
	h := follow(t, s, "host_a", journal)
	stored, unknown := writeAll([]*testHost{h}, 3, nil)
	admin, err := pgx.Connect(background, s.url("admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(background)
	if _, err := admin.Exec(background, "drop schema ctxfs cascade"); err != nil {
		t.Fatal(err)
	}

	await(t, "the copy is ahead", func() bool { return h.copy.State() == follower.Ahead })
	_, err = h.copy.Commit(background, follower.Request{Kind: shared.Message, Body: []byte("x")})
	if !errors.Is(err, follower.ErrDiverged) {
		t.Errorf("commit: %v", err)
	}
	compare(t, []*testHost{h}, stored, unknown)
}
