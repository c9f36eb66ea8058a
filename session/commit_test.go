package session_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// committer is a committer of which a test decides what happens first.
type committer struct {
	log.Committer
	before func(l *log.Log, b log.Batch, expected int64) error
}

func (c *committer) Commit(ctx context.Context, l *log.Log, b log.Batch, expected int64) (int64, error) {
	if err := c.before(l, b, expected); err != nil {
		return 0, err
	}
	return c.Committer.Commit(ctx, l, b, expected)
}

func TestAConflictIsTriedAgainAtTheNewEnd(t *testing.T) {
	c := &committer{Committer: session.Local()}
	s := openStore(t, t.TempDir(), session.Options{Committer: c})
	l := create(t, s, refA).Messages()
	rival := true
	c.before = func(l *log.Log, b log.Batch, expected int64) error {
		if !rival {
			return nil
		}
		rival = false
		position, err := session.Local().Commit(ctx, l, log.Batch{Data: []byte(a2 + "\n")}, expected)
		if err != nil {
			return err
		}
		l.Advance(position)
		return ctxabi.ErrConflict
	}
	position, err := l.Append(ctx, log.Batch{Data: []byte(a1 + "\n")})
	if err != nil || position != l.Len() || content(t, l) != a2+"\n"+a1+"\n" {
		t.Errorf("%d %v %q", position, err, content(t, l))
	}
	rival = true
	if _, err := l.NewStage(root).Write(ctx, []byte(a3+"\n"), l.Len(), false, arrival.Key{}); !errors.Is(err, ctxabi.ErrAppendOnly) {
		t.Errorf("a handle without O_APPEND whose place was taken: %v", err)
	}
	verified(t, s, refA)
}

func TestASlowCommitHoldsUpNothingElse(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	c := &committer{Committer: session.Local()}
	s := openStore(t, t.TempDir(), session.Options{Committer: c})
	x := create(t, s, refA)
	l := x.Messages()
	slow := arrival.Key{Conn: 1, Unique: 1}
	c.before = func(_ *log.Log, b log.Batch, _ int64) error {
		if b.Key == slow {
			close(entered)
			<-leave
		}
		return nil
	}
	done := make(chan error)
	go func() {
		_, err := l.Append(ctx, log.Batch{Data: []byte(a1 + "\n"), Key: slow})
		done <- err
	}()
	<-entered
	if content(t, l) != "" || l.Sync(ctx) != nil {
		t.Error("readers wait for an append")
	}
	if _, err := l.Index(); err != nil {
		t.Error(err)
	}
	if _, err := x.Events().Append(ctx, log.Batch{Data: []byte(`{"type":"x"}` + "\n")}); err != nil {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	stage := l.NewStage(root)
	if n, err := stage.Write(gone, []byte(a2+"\n"), 0, true, arrival.Key{}); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up waiting: %d, %v", n, err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Write(ctx, []byte(a2+"\n"), 0, true, arrival.Key{}); err != nil || content(t, l) != a1+"\n"+a2+"\n" {
		t.Errorf("%v %q", err, content(t, l))
	}
	verified(t, s, refA)
}

func TestABatchIsCheckedAsAWhole(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	for _, data := range []string{"", a1, a1 + "\nnope\n", "\n"} {
		if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(data)}); !errors.Is(err, ctxabi.ErrMalformed) {
			t.Errorf("%q: %v", data, err)
		}
	}
	if x.Messages().Len() != 0 {
		t.Errorf("the log is %q", content(t, x.Messages()))
	}
	if _, err := x.Events().Append(ctx, log.Batch{Data: []byte(a1 + "\n")}); !errors.Is(err, ctxabi.ErrMalformed) {
		t.Errorf("a message among events: %v", err)
	}
}
