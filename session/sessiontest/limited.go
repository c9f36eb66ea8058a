package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// Limited makes a store with a session of n messages and opens it with a limit of memory.
func Limited(tb testing.TB, n int, limit *memory.Limit) *session.Session {
	tb.Helper()
	dir, ref := tb.TempDir()+"/store", ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}
	s, err := session.Open(dir, session.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	x, err := s.Create(ref, disk.Owner{UID: 1000, GID: 1000, Mode: 0o700})
	var data []byte
	for i := range n {
		data = fmt.Appendf(data, `{"role":"user","content":"%d"}`+"\n", i)
		if len(data) > 1<<20 && err == nil {
			_, err = x.Messages().Append(context.Background(), log.Batch{Data: data})
			data = nil
		}
	}
	if err == nil && len(data) > 0 {
		_, err = x.Messages().Append(context.Background(), log.Batch{Data: data})
	}
	if err = errors.Join(err, s.Close()); err != nil {
		tb.Fatal(err)
	}
	if s, err = session.Open(dir, session.Options{Memory: limit}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	if x, err = s.Session(ref); err != nil {
		tb.Fatal(err)
	}
	return x
}
