package session_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestFullDiskDoesNotStopLog(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	l := x.Messages()
	for _, r := range []string{a1, a2} {
		if _, err := l.Append(ctx, log.Batch{Data: []byte(r + "\n")}); err != nil {
			t.Fatal(err)
		}
	}
	d.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: 1, Count: 1 << 30, Changes: true})
	for range 2 {
		if err := l.Sync(ctx); !errors.Is(err, ctxabi.ErrNoSpace) {
			t.Errorf("Sync without room: %v", err)
		}
		if _, err := l.Append(ctx, log.Batch{Data: []byte(a3 + "\n")}); !errors.Is(err, ctxabi.ErrNoSpace) {
			t.Errorf("Append without room: %v", err)
		}
	}
	for range 2 * session.IdleTicks {
		session.Tick(s)
	}
	if got := content(t, l); got != a1+"\n"+a2+"\n" {
		t.Errorf("readers see %q", got)
	}
	d.Heal()
	if _, err := l.Append(ctx, log.Batch{Data: []byte(a3 + "\n")}); err != nil {
		t.Errorf("Append when there is room: %v", err)
	}
	if err := l.Sync(ctx); err != nil {
		t.Errorf("Sync when there is room: %v", err)
	}
	d.Crash(1)
	s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, err := s.Session(refA)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, x.Messages()); got != a1+"\n"+a2+"\n"+a3+"\n" {
		t.Errorf("after a power cut: %q", got)
	}
	verified(t, s, refA)
}

// What a failed Sync left is compared with what was acknowledged.
func TestLostRecordsStopLog(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	l := x.Messages()
	for _, r := range []string{a1, a2} {
		if _, err := l.Append(ctx, log.Batch{Data: []byte(r + "\n")}); err != nil {
			t.Fatal(err)
		}
	}
	d.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: 1, Changes: true})
	if err := l.Sync(ctx); !errors.Is(err, ctxabi.ErrNoSpace) {
		t.Fatal(err)
	}
	d.Heal()
	put(t, d, path.Join(x.Dir(), ctxabi.MessagesFile), []byte(a1+"\n"+strings.Repeat("\x00", len(a2)+1)))
	for range 2 {
		if _, err := l.Append(ctx, log.Batch{Data: []byte(a3 + "\n")}); !errors.Is(err, ctxabi.ErrIO) {
			t.Errorf("Append behind lost records: %v", err)
		}
	}
}

// A disk without room for what was written may lose it: no later sync covers it by itself.
func TestPowerCutAfterFullDisk(t *testing.T) {
	for name, begin := range worlds {
		t.Run(name, func(t *testing.T) {
			_, changes := operations(t, begin)
			for _, count := range []int{1, 3} {
				for at := 1; at <= changes; at += sparse(t) {
					w := begin()
					w.disk.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: at, Count: count, Changes: true})
					w.run()
					_, where := w.disk.Hit()
					w.disk.Crash(int64(at))
					w.check(t, w.synced, fmt.Sprintf("no room for operations %d+%d (%s), then a power cut", at, count, where))
				}
			}
		})
	}
}
