package fs

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/pack"
)

// The kernel keeps inodes for as long as it has memory, and each had its build with it.
func TestBuildsThatTheKernelRemembersDoNotPileUp(t *testing.T) {
	var s shelf
	text := make([]byte, maxShelf/8-(&pack.Build{}).Size())
	var known []weak.Pointer[generation]
	for i := range 100 {
		g := &generation{build: &pack.Build{Markdown: text}, session: fmt.Sprint(i)}
		s.put(g)
		s.put(g)
		known = append(known, weak.Make(g))
	}
	runtime.GC()
	for i, w := range known {
		if alive, want := w.Value() != nil, i >= 92; alive != want {
			t.Errorf("build %d of 100 is kept: %v, want %v", i+1, alive, want)
		}
	}
	big := &generation{build: &pack.Build{Markdown: make([]byte, maxShelf+1)}}
	s.put(big)
	if of, ok := s.sessions.Peek(""); !ok || s.sessions.Len() != 1 || of.Len() != 1 {
		t.Errorf("after a build that is larger than the shelf: builds of %d sessions are kept", s.sessions.Len())
	}
}

// An agent that reads its pack in each turn had the whole shelf for builds that nobody asks for again.
func TestABusySessionHasFewBuildsOnTheShelf(t *testing.T) {
	var s shelf
	idle := &generation{build: &pack.Build{Markdown: []byte("idle")}, session: "idle"}
	s.put(idle)
	var known []weak.Pointer[generation]
	for range 100 {
		g := &generation{build: &pack.Build{Markdown: make([]byte, 1<<10)}, session: "busy"}
		s.put(g)
		known = append(known, weak.Make(g))
	}
	runtime.GC()
	for i, w := range known {
		if alive, want := w.Value() != nil, i >= 100-maxOfSession; alive != want {
			t.Errorf("build %d of 100 is kept: %v, want %v", i+1, alive, want)
		}
	}
	want := int64(maxOfSession * (&pack.Build{Markdown: make([]byte, 1<<10)}).Size())
	if got := s.Size() - int64(idle.size()); got != want {
		t.Errorf("the shelf counts %d bytes of the busy session, want %d", got, want)
	}
	if of, ok := s.sessions.Peek("idle"); !ok || of.Len() != 1 {
		t.Error("the build of the idle session is gone")
	}
}

func TestAShelfLetsGoWhereMemoryIsShort(t *testing.T) {
	s := shelf{limit: memory.New(80 << 20)}
	for i := range 20 {
		s.put(&generation{build: &pack.Build{Markdown: make([]byte, 1<<20)}, session: fmt.Sprint(i)})
	}
	if n := s.Size(); n > 10<<20 || n < 8<<20 {
		t.Errorf("%d bytes are kept of a limit of 80 MiB", n)
	}
	if s.LetGo(); s.Size() != 0 || s.sessions.Len() != 0 {
		t.Errorf("%d bytes of %d sessions are kept", s.Size(), s.sessions.Len())
	}
	s.put(&generation{build: &pack.Build{Markdown: make([]byte, 1<<20)}})
	if s.Size() < 1<<20 {
		t.Error("nothing is kept any more")
	}
}

// Whoever puts a build on the shelf waits for its native rendering, and whoever makes that may ask
// for memory.
func TestAShelfThatIsInUseIsNotWaitedForByWhoNeedsMemory(t *testing.T) {
	var s shelf
	s.put(&generation{build: &pack.Build{Markdown: make([]byte, 1<<20)}})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Loosen()
	if s.LetGo(); s.Size() != 0 || s.sessions.Size() == 0 {
		t.Error("it was changed under the hands of who has its lock")
	}
}
