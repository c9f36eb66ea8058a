package cluster

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/backup"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// TestABackupIsRestoredIntoNewServers backs a cluster up while a host appends, restores it into another one, and holds
// the session that a host has there against the one it is of.
func TestABackupIsRestoredIntoNewServers(t *testing.T) {
	suite.Matrix(t, slow)
	dir, id := t.TempDir(), strings.Repeat("5b", 16)
	c := servers.Start(t)
	a := join(t, c, peerstest.NewNetwork(), "a", id)
	owner := names.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
	owned := names.NewReplica(c.Open(t, "b"), "b", names.SubjectOf(shared), names.Options{})
	if _, err := owned.Commit(t.Context(), names.CreateSession{Agent: shared.Agent, Session: shared.Session, ID: id, Owner: owner}); err != nil {
		t.Fatal(err)
	}
	say := func(text string) {
		if _, err := a.x.Messages().Append(t.Context(), log.Batch{Data: fmt.Appendf(nil, `{"role":"user","content":%q}`+"\n", text)}); err != nil {
			t.Error(err)
		}
	}
	for i := range 50 {
		say(fmt.Sprint("before ", i))
	}
	say(strings.Repeat("long ", 100_000)) // an object
	before := a.x.Messages().Len()
	quit, quits := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(quits)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
				say(fmt.Sprint("meanwhile ", i))
			}
		}
	}()
	m := c.Open(t, "maintenance")
	for n := 1; n <= 2; n++ {
		begun := time.Now()
		r, err := backup.Take(t.Context(), dir, m, "old")
		if err != nil || len(r.Problems) > 0 || r.Number != n || r.Sessions != 1 {
			t.Fatalf("backup %d: %+v, %v", n, r, err)
		}
		t.Logf("backup %d: %d entries, %d objects, %d bytes in %v", n, r.Entries, r.Objects, r.Bytes, time.Since(begun).Round(time.Millisecond))
	}
	close(quit)
	<-quits
	if r, err := backup.Verify(t.Context(), dir, 0); err != nil || len(r.Problems) > 0 {
		t.Fatalf("verify: %+v, %v", r, err)
	}
	if _, err := backup.Restore(t.Context(), dir, 0, m); err == nil {
		t.Error("a backup was restored into a cluster that goes on")
	}

	d := servers.Start(t)
	begun := time.Now()
	r, err := backup.Restore(t.Context(), dir, 0, d.Open(t, "maintenance"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("restored %d entries and %d objects in %v", r.Entries, r.Objects, time.Since(begun).Round(time.Millisecond))
	again := names.NewReplica(d.Open(t, "c"), "c", names.SubjectOf(shared), names.Options{})
	if err := again.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	again.View(func(s *names.State) {
		if x, ok := s.SessionByID(id); !ok || x.Ref != shared {
			t.Errorf("the restored owner has %+v, %v", x, ok)
		}
	})
	b := join(t, d, peerstest.NewNetwork(), "b", id)
	if err := b.h.Fresh(t.Context(), b.x, 0); err != nil {
		t.Fatal(err)
	}
	size := b.x.Messages().Len()
	if size < before {
		t.Errorf("%d bytes are restored, and %d were acknowledged before the backup", size, before)
	}
	one, two := make([]byte, size), make([]byte, size)
	for i, l := range []*log.Log{a.x.Messages(), b.x.Messages()} {
		if _, err := l.ReadAt([][]byte{one, two}[i], 0); err != nil && err.Error() != "EOF" {
			t.Fatal(err)
		}
	}
	if !slices.Equal(one, two) {
		t.Error("the restored session has other bytes")
	}
	if problems, err := check.Verify(t.Context(), b.s, shared); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	if _, err := b.x.Messages().Append(t.Context(), log.Batch{Data: []byte(`{"role":"user","content":"goes on"}` + "\n")}); err != nil {
		t.Error(err)
	}

	loseObject(t, d, 0.5)
	late := join(t, d, peerstest.NewNetwork(), "c", id)
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := late.h.Fresh(short, late.x, 0); err == nil {
		t.Error("a session is read whose object all servers have lost")
	}
	await(t, "the objects of the backup are whole again", func() bool {
		r, err := backup.Mend(t.Context(), dir, 0, d.Open(t, "maintenance"))
		if err != nil || len(r.Problems) > 0 {
			t.Logf("%+v, %v", r, err)
		}
		return err == nil && len(r.Problems) == 0 && r.Objects > 0
	})
	await(t, "a whole session from whole objects", func() bool { return late.h.Fresh(t.Context(), late.x, 0) == nil })
	if got, want := late.x.Messages().Len(), b.x.Messages().Len(); got != want {
		t.Errorf("%d bytes are read from objects that came back, of %d", got, want)
	}
}
