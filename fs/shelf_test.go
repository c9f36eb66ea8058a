package fs

import (
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
	for range 100 {
		g := &generation{build: &pack.Build{Markdown: text}}
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
	if _, ok := s.builds.Peek(big); !ok || s.builds.Len() != 1 {
		t.Errorf("after a build that is larger than the shelf: %d kept", s.builds.Len())
	}
}

func TestAShelfLetsGoWhereMemoryIsShort(t *testing.T) {
	s := shelf{limit: memory.New(80 << 20)}
	for range 20 {
		s.put(&generation{build: &pack.Build{Markdown: make([]byte, 1<<20)}})
	}
	if n := s.Size(); n > 10<<20 || n < 8<<20 {
		t.Errorf("%d bytes are kept of a limit of 80 MiB", n)
	}
	if s.LetGo(); s.Size() != 0 || s.builds.Len() != 0 {
		t.Errorf("%d bytes of %d builds are kept", s.Size(), s.builds.Len())
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
	if s.LetGo(); s.Size() != 0 || s.builds.Size() == 0 {
		t.Error("it was changed under the hands of who has its lock")
	}
}
