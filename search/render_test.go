package search

import "testing"

// Where the index cannot be made, nobody is told to wait for it.
func TestAnIndexThatCannotBeMadeIsNotPromised(t *testing.T) {
	full := Covered{Messages: 5, Indexed: [2]int{2, 0}, Failed: "the disk is full"}
	slow := Covered{Messages: 5, Indexed: [2]int{2, 0}}
	for _, c := range []struct {
		r    Result
		want string
	}{
		{Result{Sessions: []Covered{full}}, "the index cannot be made (the disk is full): messages:1-2 of 5, no events of 0 and the newest were searched"},
		{Result{Sessions: []Covered{slow}}, "the index is still being made: messages:1-2 of 5, no events of 0 and the newest were searched; ask again in a moment"},
		{Result{Many: true, Sessions: []Covered{full, {}}}, "the index of 1 of 2 sessions cannot be made (the disk is full)"},
		{Result{Many: true, Sessions: []Covered{full, slow}}, "the index of 2 of 2 sessions is still being made; ask again in a moment"},
	} {
		if got := c.r.behind(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
