package log_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// limitedSession makes a store with a session of n messages and opens it with a limit of memory.
func limitedSession(t *testing.T, n int, limit *memory.Limit) *session.Session {
	t.Helper()
	dir, ref := t.TempDir()+"/store", ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}
	s, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Create(ref, session.Owner{UID: 1000, GID: 1000, Mode: 0o700})
	var data []byte
	for i := range n {
		data = fmt.Appendf(data, `{"role":"user","content":"%d"}`+"\n", i)
		if len(data) > 1<<20 && err == nil {
			_, err = x.Messages().Append(context.Background(), session.Batch{Data: data})
			data = nil
		}
	}
	if err == nil {
		_, err = x.Messages().Append(context.Background(), session.Batch{Data: data})
	}
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = session.Open(dir, session.Options{Memory: limit}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if x, err = s.Session(ref); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAnIndexWithoutRoomIsRefusedAndMadeLater(t *testing.T) {
	const records = 40_000
	small := memory.New(1 << 20) // less than the process has already
	x := limitedSession(t, records, small)
	for range 2 {
		if _, err := x.Messages().Index(); !errors.Is(err, ctxabi.ErrNoMemory) {
			t.Fatalf("without room: %v", err)
		}
		if n := log.IndexBytes(x.Messages()); n != 0 {
			t.Errorf("what was refused holds %d bytes", n)
		}
	}
	log.SetMemory(x.Messages(), nil)
	if ix, err := x.Messages().Index(); err != nil || ix.Len() != records {
		t.Errorf("with room again: %v", err)
	}
}

// A snapshot that somebody works with keeps its rows in memory: were the index let go of, the next one would be there beside it.
func TestAnIndexInUseIsNotLetGoOf(t *testing.T) {
	x := limitedSession(t, 3000, nil)
	cache := log.IndexCache(x.Messages())
	ix, err := x.Messages().Index()
	if err != nil {
		t.Fatal(err)
	}
	look := func() int64 {
		cache.Loosen()
		runtime.GC()
		return cache.Size()
	}
	if n := look(); n != 0 {
		t.Errorf("%d bytes of an index in use could be let go of", n)
	}
	cache.LetGo()
	if n := log.IndexBytes(x.Messages()); n == 0 {
		t.Error("an index in use was let go of")
	}
	again, err := x.Messages().Index()
	if err != nil || !log.SameRows(again, ix) {
		t.Errorf("its rows are in memory twice (%v)", err)
	}
	runtime.KeepAlive(ix)
	ix, again = nil, nil
	if n := look(); n == 0 {
		t.Error("an index that nobody uses cannot be let go of")
	}
	cache.LetGo()
	if n := log.IndexBytes(x.Messages()); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
	if ix, err = x.Messages().Index(); err != nil || ix.Len() != 3000 {
		t.Errorf("read again: %v", err)
	}
}
