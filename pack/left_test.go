package pack

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A history is folded step by step or at once: the cuts are the same.
func TestCutsFollowFromTheHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := history(t)
		limit := rapid.IntRange(400, 6000).Draw(t, "budget")
		whole := foldOf(l, limit)
		mm := NewMemo()
		for n := range l.Len() + 1 {
			f := mm.Fold(l.Prefix(n), rulesAt(limit))
			if len(f.Cuts) != f.Compactions || !slices.Equal(f.Cuts, whole.Cuts[:len(f.Cuts)]) {
				t.Fatalf("after %d records the cuts are %v of %d, in the end %v", n, f.Cuts, f.Compactions, whole.Cuts)
			}
			if n := len(f.Cuts); n > 0 && f.Cuts[n-1] != f.Boundary() {
				t.Fatalf("the last cut is %d, the boundary %d", f.Cuts[n-1], f.Boundary())
			}
		}
	})
}
