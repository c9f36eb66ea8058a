package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestAForkIsTheSessionAsItWasAtThatMessage(t *testing.T) {
	for _, mem := range []string{"memory", "os"} {
		t.Run(mem, func(t *testing.T) {
			dir, o := "/store", session.Options{}
			if mem == "memory" {
				d := sessiontest.New()
				o = session.Options{VFS: d, Now: d.Now}
			} else {
				dir = t.TempDir() + "/store"
			}
			s := openStore(t, dir, o)
			x := create(t, s, refA)
			add := func(l *log.Log, lines ...string) {
				t.Helper()
				if _, err := l.Append(ctx, log.Batch{Data: []byte(strings.Join(lines, "\n") + "\n")}); err != nil {
					t.Fatal(err)
				}
			}
			message := func(i int) string { return fmt.Sprintf(`{"role":"user","content":"m%d"}`, i) }
			event := func(i int) string { return fmt.Sprintf(`{"type":"tool_call","id":"c%d","name":"ls"}`, i) }
			for i := 1; i <= 10; i++ {
				add(x.Messages(), message(i))
				add(x.Events(), event(i))
			}
			add(x.Messages(), message(11), message(12), message(13)) // one commit
			for name, content := range map[string]string{ctxabi.BudgetFile: "4000\n", ctxabi.StateFile: "active\n", ctxabi.MetaFile: `{"model":"m"}`, "context/pinned/a.md": "pin\n"} {
				if err := x.SetControl(name, []byte(content)); err != nil {
					t.Fatal(err)
				}
			}
			blob := ctxabi.ContentID([]byte("a blob"))
			stage, err := x.NewBlobStage(blob, root)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stage.WriteAt([]byte("a blob"), 0); err != nil {
				t.Fatal(err)
			}
			if err := stage.Flush(); err != nil {
				t.Fatal(err)
			}
			stage.Release()
			all, _ := x.Timeline()
			for _, n := range []int{0, 1, 7, 10, 11, 12, 13, -1} {
				ref := refA
				ref.Session = fmt.Sprintf("fork%d", n+1)
				f, _, err := s.Fork(x, n, ref, disk.Owner{UID: 0, GID: 0, Mode: 0o700})
				if err != nil {
					t.Fatalf("at %d: %v", n, err)
				}
				want := all
				if n >= 0 {
					want = all.Prefix(n)
				}
				got, err := f.Timeline()
				if err != nil {
					t.Fatal(err)
				}
				if got.Messages.Len() != want.Messages.Len() || got.Events.Len() != want.Events.Len() || fmt.Sprint(got.Tools) != fmt.Sprint(want.Tools) {
					t.Errorf("at %d: %d messages, %d events, tools %v; want %d, %d, %v", n, got.Messages.Len(), got.Events.Len(), got.Tools,
						want.Messages.Len(), want.Events.Len(), want.Tools)
				}
				for line := 1; line <= got.Messages.Len(); line++ {
					a, _ := got.Messages.Record(line)
					if b, _ := want.Messages.Record(line); !bytes.Equal(a, b) {
						t.Errorf("at %d: record %d is %s", n, line, a)
					}
				}
				if found, err := check.Verify(ctx, s, ref); err != nil || len(found) > 0 {
					t.Errorf("at %d: %v %v", n, found, err)
				}
				meta, _ := f.Control(ctxabi.MetaFile)
				if want := fmt.Sprintf(`{"forked_from":"%s@%d","model":"m"}`+"\n", refA, want.Messages.Len()); string(meta) != want {
					t.Errorf("meta.json is %s, want %s", meta, want)
				}
				if b, ok := f.Budget(); b != 4000 || !ok || f.State() != "idle" {
					t.Errorf("budget %d, state %s", b, f.State())
				}
				if pin, err := f.Control("context/pinned/a.md"); string(pin) != "pin\n" {
					t.Errorf("pin %q: %v", pin, err)
				}
				if b, err := f.OpenBlob(blob); err != nil {
					t.Errorf("what was stored is not there: %v", err)
				} else {
					b.Close()
				}
				if f.ID() == x.ID() {
					t.Error("the fork has the id of the session")
				}
				add(f.Messages(), message(99)) // both go on, each for itself
			}
			if after, _ := x.Timeline(); after.Messages.Len() != 13 {
				t.Errorf("the session has %d messages now", after.Messages.Len())
			}
			if _, _, err := s.Fork(x, 14, ctxabi.Ref{UID: refA.UID, Agent: refA.Agent, Session: "more"}, disk.Owner{}); !errors.Is(err, ctxabi.ErrNotFound) {
				t.Errorf("at 14 of 13: %v", err)
			}
			if _, _, err := s.Fork(x, 1, refA, disk.Owner{}); !errors.Is(err, ctxabi.ErrExists) {
				t.Errorf("onto itself: %v", err)
			}
			if n, err := x.MessagesAt(time.Now().Add(time.Hour)); mem == "os" && (n != 13 || err != nil) {
				t.Errorf("%d messages in an hour: %v", n, err)
			}
		})
	}
}

// A fork that the disk does not finish leaves nothing, and the session as it was.
func TestAForkThatFailsLeavesNothing(t *testing.T) {
	failed := 0
	for step := 1; ; step++ {
		d := sessiontest.New()
		s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		x := create(t, s, refA)
		if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(msg("user", "m"))}); err != nil {
			t.Fatal(err)
		}
		to := refA
		to.Session = "fork"
		d.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: step, Changes: true})
		_, _, err := s.Fork(x, -1, to, home)
		hit, what := d.Hit()
		d.Heal()
		if hit == 0 {
			break
		}
		if err != nil {
			failed++
		}
		if _, missing := s.Session(to); missing == nil {
			if problems, err := check.Verify(ctx, s, to); len(problems) > 0 || err != nil {
				t.Fatalf("step %d (%s) left half a session: %v %v", step, what, problems, err)
			}
		} else if err == nil {
			t.Errorf("step %d (%s): it is not there, and nobody said so", step, what)
		}
		verified(t, s, refA)
	}
	if failed < 20 {
		t.Errorf("only %d steps could fail", failed)
	}
}

func TestARemovedSessionIsGoneForWhoeverHasItOpen(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	one := log.Batch{Data: []byte(`{"role":"user","content":"m"}` + "\n")}
	if _, err := x.Messages().Append(ctx, one); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(refA); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(refA); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("looked up: %v", err)
	}
	y := create(t, s, refA) // another one under its name
	if _, err := x.Messages().Append(ctx, one); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("appended: %v", err)
	}
	if _, err := x.Messages().ReadAt(make([]byte, 4), 0); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("read: %v", err)
	}
	if err := x.SetControl(ctxabi.StateFile, []byte("active")); err == nil {
		t.Error("a setting of it was written")
	}
	if _, err := x.Control(ctxabi.StateFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a setting was read: %v", err)
	}
	if n := y.Messages().Len(); n != 0 || y.State() != "idle" || y.ID() == x.ID() {
		t.Errorf("the new one has %d bytes, is %s", n, y.State())
	}
	if err := s.Remove(ctxabi.Ref{UID: refA.UID, Agent: refA.Agent, Session: "none"}); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
}
