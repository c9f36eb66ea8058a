package bench

import (
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// oneTurn is what one append with a read of the pack after it took, in nanoseconds.
type oneTurn struct {
	wall float64 // of the read
	cpu  float64 // the daemon's processor, from the append until the reader had the pack
	all  float64 // the same until the daemon had nothing more to do: with what it did behind the reader
	what int     // plain, compaction or request
}

// takeTurns has the client append count records of a kind to a log that ctxfs serves, and read the pack after each.
func takeTurns(t *testing.T, p *site, log, kind string, first, count int) (all []oneTurn) {
	t.Helper()
	pack := filepath.Join(filepath.Dir(log), ctxabi.PackFile)
	v := p.run(t, "turns", log, pack, first, count, p.mount.PID(), kind)
	if len(v) != perTurn*count {
		t.Fatalf("the client took %d turns, not %d", len(v)/perTurn, count)
	}
	for ; len(v) > 0; v = v[perTurn:] {
		all = append(all, oneTurn{v[0], v[1], v[2], int(v[3])})
	}
	return all
}

// byPlace collects what f makes of the turns of each place, of those that it wants.
func byPlace(turns map[string][]oneTurn, f func(s oneTurn) (v float64, ok bool)) samples {
	all := samples{}
	for place, of := range turns {
		for _, s := range of {
			if v, ok := f(s); ok {
				all.add(place, v)
			}
		}
	}
	return all
}
