package fs

import (
	"runtime"
	"testing"
	"weak"

	"github.com/ctxfs/ctxfs/pack"
)

// The kernel keeps inodes for as long as it has memory, and each had its build with it.
func TestBuildsThatTheKernelRemembersDoNotPileUp(t *testing.T) {
	var s shelf
	text := make([]byte, maxShelf/8)
	var known []weak.Pointer[generation]
	for range 100 {
		g := &generation{build: &pack.Build{Markdown: text}}
		s.keep(g)
		s.keep(g)
		known = append(known, weak.Make(g))
	}
	runtime.GC()
	for i, w := range known {
		if alive, want := w.Value() != nil, i >= 92; alive != want {
			t.Errorf("build %d of 100 is kept: %v, want %v", i+1, alive, want)
		}
	}
	big := &generation{build: &pack.Build{Markdown: make([]byte, maxShelf+1)}}
	s.keep(big)
	if len(s.at) != 1 || s.order.Front().Value != big {
		t.Errorf("after a build that is larger than the shelf: %d kept", len(s.at))
	}
}
