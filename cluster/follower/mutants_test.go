package follower

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/shared/sharedtest"
	"github.com/ctxfs/ctxfs/internal/suite"
)

// mutants break one guard each. The simulation or a test of copy_test.go must fail.
var mutants = []suite.Mutant{
	{"no fence after a read", "copy.go",
		"} else if err := c.host.store.Fence(ctx, page.Server); err != nil {",
		"} else if err := error(nil); err != nil {"},
	{"absence is a removal", "copy.go",
		"	c.state = Forked\n	chain, known",
		"	if missing {\n		c.state = Removed\n		c.files.Drop()\n		return\n	}\n	c.state = Forked\n	chain, known"},
	{"a shorter journal is accepted", "copy.go", "|| page.Next < from.I || page", "|| page"},
	{"the chain of a journal is not compared", "../shared/entry.go",
		"if !bytes.Equal(chain, next.Chain[:]) {", "if false && !bytes.Equal(chain, next.Chain[:]) {"},
	{"an unknown outcome is taken for none", "commit.go",
		"	case errors.Is(err, shared.ErrUnknown):\n		c.mu.Lock()",
		"	case errors.Is(err, shared.ErrUnknown):\n		c.unsent(b)\n		return err\n	case false:\n		c.mu.Lock()"},
	{"an unknown outcome is taken for stored", "commit.go",
		"	case errors.Is(err, shared.ErrUnknown):\n		c.mu.Lock()",
		"	case errors.Is(err, shared.ErrUnknown):\n		return c.adopt(ctx, b, earlier)\n	case false:\n		c.mu.Lock()"},
	{"a repeat has a new key", "commit.go",
		"		err = c.host.store.Append(ctx, b.sealed)\n",
		"		b.sealed.Entry.Key = shared.NewID()\n		err = c.host.store.Append(ctx, b.sealed)\n"},
	{"the own entry is not recognized", "copy.go", "		b.found = true\n", "		b.found = false\n"},
	{"a sent request fails as not stored", "commit.go",
		"	if w.sent {\n		c.answer(w, Result{}, fmt.Errorf(\"%w: %v\", shared.ErrUnknown",
		"	if w.sent {\n		c.answer(w, Result{}, fmt.Errorf(\"%w: %v\", shared.ErrUnavailable"},
	{"failed batches count as not stored", "commit.go",
		"		case w.sent:\n			c.answer(w, Result{}, fmt.Errorf(\"%w: %v\", shared.ErrUnknown",
		"		case w.sent:\n			c.answer(w, Result{}, fmt.Errorf(\"%w: %v\", shared.ErrUnavailable"},
	{"entries read under the lock are applied at once", "commit.go",
		"		if err := c.seal(b, earlier, page.Root); err != nil {",
		"		c.absorb(earlier, page, time.Time{})\n		earlier = nil\n		if err := c.seal(b, earlier, page.Root); err != nil {"},
	{"the answer comes before the copy has the record", "commit.go",
		"	gap, err := c.applyOwn(b, earlier)\n",
		"	gap, err := false, error(nil)\n	b.found = true\n"},
	{"another entry in the own place counts", "commit.go", "if err == nil && !b.found {", "if false {"},
	{"an incomplete copy is shown", "copy.go",
		"	case !c.mark.Complete:\n		return", "	case false:\n		return"},
	{"a stale copy is shown", "copy.go", "	case c.stale != nil:\n", "	case false:\n"},
	{"a copy is complete after its first page", "copy.go",
		"	if c.mark.I < page.Next {\n		return false, nil\n	}\n",
		"	if c.mark.I < page.Next {\n		c.complete()\n		return false, nil\n	}\n"},
	{"status ignores the age of the last comparison", "copy.go",
		" && time.Since(c.confirmed) <= maxConfirmAge", ""},
	{"any server confirms a copy", "host.go",
		"	if h.server != server {\n		return time.Time{}\n	}\n", ""},
	{"a read confirms without a heartbeat", "host.go",
		"beat.Before(began) {\n		began = beat // the zero", "false && beat.Before(began) {\n		began = beat // the zero"},
	{"requests wait without a deadline", "commit.go",
		"	case <-ctx.Done():\n		c.abandon(w)\n	}", "	}"},
	{"a divergence is no reason to refuse", "commit.go",
		"	case Ahead, Forked:\n		return", "	case -1:\n		return"},
	{"an applied entry is applied again", "copy.go",
		"		if e.I != c.mark.I {\n			continue // applied meanwhile\n		}\n", ""},
	{"rows of a base keep their chain", "copy.go", "c.apply(e, e.I < page.Own)", "c.apply(e, false)"},
	{"a host without a heartbeat sends", "host.go", "for !h.connected() {", "for false {"},
	{"a repeat needs no heartbeat", "commit.go",
		"	err := c.host.waitConnected(ctx)\n	if err == nil {\n		err = c.host.store.Append",
		"	err := error(nil)\n	if err == nil {\n		err = c.host.store.Append"},
	{"the number of an entry is not compared", "../shared/entry.go", "if e.I != at.I {", "if false {"},
	{"an interrupted removal is forgotten", "copy.go", "	if mark.Ended {", "	if false {"},
	{"two copies of one journal", "host.go",
		"if c := h.copies[journal]; c != nil {",
		"if c := h.copies[journal]; c != nil && h.opened < 0 {"},
	{"a removed session goes on", "copy.go",
		"		c.state = Removed\n		return c.files.Drop()", "		return nil"},
	{"a restart of the database is a removal", "copy.go",
		"	if c.state == Removed || missing &&", "	if missing {\n		c.state = Removed\n	}\n	if c.state == Removed || missing &&"},
	{"keep-mine appends what the database has", "resolve.go",
		"!= (arrival.Key{}) && stored[r.Key] {", "!= (arrival.Key{}) && false && stored[r.Key] {"},
	{"an old life is continued", "copy.go", "mark.Journal != journal && mark", "false && mark"},
	{"keep-mine forgets the records", "resolve.go", "err != nil || keep == KeepCluster {", "true {"},
}

var allFlag = flag.Bool("all-mutants", false, "run all mutants; by default, the first three")

func TestMutantsAreCaught(t *testing.T) {
	suite.Matrix(t, "it compiles the package once for each mutant")
	list := mutants
	if !*allFlag {
		list = list[:3]
	}
	suite.Mutants(t, list, func(m suite.Mutant) []string {
		if dir := filepath.Dir(m.File); dir != "." {
			return []string{"./" + dir} // a guard of another package, which tests it
		}
		const tests = "TestSimulation|TestOneCopy|TestFullDisk|TestNewLife|TestOutage|TestInterrupted"
		return []string{"-run", tests, ".", "-args", "-runs=300"}
	})
}

// A database that decides by the primary key of entries alone accepts gaps and other pasts.
func TestPrimaryKeyIsNoFence(t *testing.T) {
	for i := range uint64(20) {
		s := simulate(t, suite.Seed()+i, func(db *sharedtest.Database) { db.MutantKeyOnly = true })
		if len(s.problems) > 0 {
			return
		}
	}
	t.Error("20 simulated runs found no problem without the compare-and-set")
}
