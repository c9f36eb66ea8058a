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

func TestASlowCommitHoldsUpNothingElse(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	l := x.Messages()
	release := log.Hold(l)
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
	if n, err := stage.Write(gone, []byte(a1+"\n"), 0, true, arrival.Key{}); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up waiting: %d, %v", n, err)
	}
	release()
	if _, err := stage.Write(ctx, []byte(a1+"\n"), 0, true, arrival.Key{}); err != nil || content(t, l) != a1+"\n" {
		t.Errorf("%v %q", err, content(t, l))
	}
	verified(t, s, refA)
}

// Two handles without O_APPEND write at the same end of the log. One of them is refused.
func TestASecondWriteAtTheSameEndIsRefused(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	l := create(t, s, refA).Messages()
	release := log.Hold(l)
	results := make(chan error)
	for _, line := range []string{a1, a2} {
		go func() {
			_, err := l.NewStage(root).Write(ctx, []byte(line+"\n"), 0, false, arrival.Key{})
			results <- err
		}()
	}
	release()

	var refused error
	for range 2 {
		if err := <-results; err != nil {
			refused = errors.Join(refused, err)
		}
	}
	if got := content(t, l); !errors.Is(refused, ctxabi.ErrAppendOnly) || got != a1+"\n" && got != a2+"\n" {
		t.Errorf("%v, and the log is %q", refused, got)
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
