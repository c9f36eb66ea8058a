package log_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestAnIndexWithoutRoomIsRefusedAndMadeLater(t *testing.T) {
	const records = 40_000
	small := memory.New(1 << 20) // less than the process has already
	x := sessiontest.Limited(t, records, small)
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
	x := sessiontest.Limited(t, 3000, nil)
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
