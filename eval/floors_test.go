package eval

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
)

// floor is what packs of ctxfs keep at least of one set of sessions at a budget, and what a call of the model costs at
// most: a little beside what was measured when it was written. Whoever makes packs better moves it.
type floor struct {
	budget                           int
	frc, frcctx, farctx, f5g, prefix float64
	tokens, compactions              float64 // at most, of a call
}

func checkFloors(t *testing.T, sessions []*Session, floors []floor) {
	t.Helper()
	o := Options{Cuts: 40, Jobs: 2, Alone: true}
	for _, f := range floors {
		o.Budgets = append(o.Budgets, f.budget)
	}
	r := mustRun(t, sessions, o)
	for _, f := range floors {
		for _, row := range r.Rows {
			if row.Method != Ctxfs || row.Budget != f.budget {
				continue
			}
			if row.Over > 0 || row.WrongPacks > 0 || row.Cuts == 0 {
				t.Errorf("at %d: %d of %d packs over the budget, %d with broken promises: %s", f.budget, row.Over, row.Packs, row.WrongPacks, row.Wrong)
			}
			for _, c := range []struct {
				figure Figure
				least  float64
			}{{FRC, f.frc}, {FRCctx, f.frcctx}, {FarCtx, f.farctx}, {F5G, f.f5g}, {Prefix, f.prefix}} {
				got := row.Figures[c.figure].Mean
				t.Logf("at %d: %s %.3f, at least %.3f", f.budget, c.figure, got, c.least)
				if got < c.least {
					t.Errorf("at %d: %s is %.3f, it was above %.3f", f.budget, c.figure, got, c.least)
				}
			}
			for _, c := range []struct {
				figure Figure
				most   float64
			}{{Effective, f.tokens}, {Compacting, f.compactions}} {
				got := row.Figures[c.figure].Mean
				t.Logf("at %d: %s %.3f, at most %.3f", f.budget, c.figure, got, c.most)
				if got > c.most || got == 0 {
					t.Errorf("at %d: %s is %.3f, it was below %.3f", f.budget, c.figure, got, c.most)
				}
			}
		}
	}
}

// The session that comes with ctxfs.
func TestPacksOfTheExampleKeepWhatTheyKept(t *testing.T) {
	checkFloors(t, example(t), []floor{
		{4000, .70, .66, .39, .36, .74, 1400, .28},
		{8000, .91, .88, .73, .55, .82, 2050, .185},
	})
}

// A long session of a coding agent, where it is at hand.
func TestPacksOfALongSessionKeepWhatTheyKept(t *testing.T) {
	floors := []floor{
		{8000, .78, .745, .41, .415, .835, 1900, .165},
		{32000, .945, .915, .775, .75, .95, 4100, .05},
	}
	floors = suite.Pick(t, floors[:1], floors)
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	file := filepath.Join(dir, "sessions", "pi_coding", "large-session.jsonl")
	if _, err := os.Stat(file); err != nil {
		t.Skip("no long real session here; CTXFS_TESTDATA names a directory with some")
	}
	sessions, err := Load([]string{file}, "", func(why string) { t.Error(why) })
	if err != nil {
		t.Fatal(err)
	}
	checkFloors(t, sessions, floors)
}
