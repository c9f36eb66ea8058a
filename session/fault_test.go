package session_test

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// A world remembers what the clients of a workload were told.
type world struct {
	disk    *sessiontest.Disk
	created bool
	seq     int
	offered map[string]bool
	acked   []string       // records whose write returned
	synced  []string       // records that were acked when an fsync returned
	control string         // the last budget that SetControl accepted
	tried   []string       // budgets it was given since
	seals   int            // parts of logs that were sealed
	begun   int            // records that were there before the disk may fail
	heads   []session.Head // of them
}

func newWorld() *world {
	return &world{disk: sessiontest.New(), offered: map[string]bool{}}
}

// worlds are what the disk fails in.
var worlds = map[string]func() *world{"new": newWorld, "old": newOldWorld}

func (w *world) record(size int) string {
	w.seq++
	rec := fmt.Sprintf(`{"role":"user","content":"%06d%s"}`+"\n", w.seq, strings.Repeat("x", size))
	w.offered[rec] = true
	return rec
}

func (w *world) open() (*session.Store, error) {
	return session.Open("/store", session.Options{VFS: w.disk, Now: w.disk.Now})
}

// client is an open handle whose program retries once and then gives up.
type client struct {
	w     *world
	log   *log.Log
	stage *log.Stage
	sent  string // taken, but not as a whole record yet
}

func (w *world) client(l *log.Log) *client {
	return &client{w: w, log: l, stage: l.NewStage(root)}
}

func (c *client) write(p string) bool {
	for try := 0; len(p) > 0; try++ {
		n, err := c.stage.Write(ctx, []byte(p), 0, true, arrival.Key{})
		c.took(p[:n])
		p = p[n:]
		if err == nil && len(p) > 0 {
			panic("short count without an error")
		}
		if err != nil && (try > 0 || errors.Is(err, ctxabi.ErrMalformed)) {
			c.giveUp()
			return false
		}
	}
	return true
}

func (c *client) took(p string) {
	c.sent += p
	for {
		i := strings.IndexByte(c.sent, '\n')
		if i < 0 {
			return
		}
		if i > 0 { // else: the newline after a flush
			c.w.acked = append(c.w.acked, c.sent[:i+1])
		}
		c.sent = c.sent[i+1:]
	}
}

// giveUp closes the handle and opens another one.
func (c *client) giveUp() {
	c.stage.Release()
	c.stage, c.sent = c.log.NewStage(root), ""
}

func (c *client) flush() {
	if c.stage.Flush(ctx, arrival.Key{}) != nil {
		c.giveUp()
	} else if c.sent != "" {
		c.took("\n")
	}
}

func (c *client) sync() {
	told := len(c.w.acked)
	if c.log.Sync(ctx) == nil {
		c.w.synced = c.w.acked[:told:told]
	}
}

func (w *world) seal(l *log.Log) {
	if raw, _, err := l.Seal(ctx); err == nil && raw > 0 {
		w.seals++
	}
}

// run is the scripted workload: everything a log does, twice over.
func (w *world) run() {
	for range 2 {
		s, err := w.open()
		if err != nil {
			return
		}
		w.use(s)
		s.Close()
	}
}

func (w *world) use(s *session.Store) {
	x, err := s.Session(refA)
	if errors.Is(err, ctxabi.ErrNotFound) {
		x, err = s.Create(refA, home)
	}
	if err != nil {
		return
	}
	w.created = true
	m := x.Messages()
	a, b := w.client(m), w.client(m)
	a.write(w.record(10))
	b.write(w.record(20) + w.record(0) + w.record(300))
	half := w.record(50)
	a.write(half[:20])
	b.write(w.record(5))
	a.write(half[20:])
	a.sync()
	x.Events().Append(ctx, log.Batch{Data: []byte(`{"type":"note"}` + "\n"), Writer: root})
	a.write("not a record\n")
	big := w.record(1500) // larger than a stage keeps in memory, see TestMain
	b.write(big[:1200])
	b.write(big[1200:])
	w.seal(m)
	open := w.record(30)
	a.write(open[:len(open)-1])
	a.flush()
	a.write("\n")
	if ix, err := m.Index(); err == nil {
		m.SetTokens("o200k_base", ix.Len(), 7)
	}
	w.tried = append(w.tried, fmt.Sprint(1000+w.seq))
	if x.SetControl(ctxabi.BudgetFile, []byte(w.tried[len(w.tried)-1])) == nil {
		w.control, w.tried = w.tried[len(w.tried)-1], nil
	}
	b.write(w.record(40))
	b.sync()
	b.write(w.record(60))
	w.seal(m)
	w.seal(x.Events())
	b.write(`{"role":"us`)
	b.stage.Release()
	a.stage.Release()
	x.Latest()
}

// check opens the store and compares it with what was promised.
func (w *world) check(t *testing.T, promised []string, what string) {
	t.Helper()
	s, err := w.open()
	if err != nil {
		t.Fatalf("%s: open: %v", what, err)
	}
	defer func() { s.Close() }()
	x, err := s.Session(refA)
	if errors.Is(err, ctxabi.ErrNotFound) && !w.created {
		if _, err := s.Create(refA, home); err != nil {
			t.Fatalf("%s: create: %v", what, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := x.Messages().Open(); err != nil {
		t.Fatalf("%s: open log: %v", what, err)
	}
	if alone := plain(t, w.disk, x.Dir()); alone != content(t, x.Messages()) {
		t.Fatalf("%s: without the program the log has %d bytes, with it %d", what, len(alone), x.Messages().Len())
	}
	present := map[string]int{}
	for i, line := range strings.SplitAfter(content(t, x.Messages()), "\n") {
		if line == "" {
			continue
		}
		if !w.offered[line] {
			t.Fatalf("%s: line %d is torn or was never written: %.60q", what, i+1, line)
		}
		if present[line]++; present[line] > 1 {
			t.Fatalf("%s: line %d stands twice: %.60q", what, i+1, line)
		}
	}
	for _, rec := range promised {
		if present[rec] == 0 {
			t.Fatalf("%s: acknowledged record is gone: %.60q\nerrors: %s", what, rec, x.Errors())
		}
	}
	for _, h := range w.heads {
		if problems, err := check.VerifyHead(s, h); err != nil || len(problems) > 0 {
			t.Fatalf("%s: what was there before is not what it was: %v %v\nerrors: %s", what, problems, err, x.Errors())
		}
	}
	budget, err := x.Control(ctxabi.BudgetFile)
	if ok := string(budget) == w.control; err != nil || !ok && !contains(w.tried, string(budget)) {
		t.Fatalf("%s: budget is %q (%v), set to %q", what, budget, err, w.control)
	}
	last := w.record(1)
	if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(last), Writer: root}); err != nil {
		t.Fatalf("%s: append after reopening: %v", what, err)
	}
	if problems, err := check.Verify(ctx, s, refA); err != nil || len(problems) > 0 {
		t.Fatalf("%s: verify: %v %v\nerrors: %s", what, problems, err, x.Errors())
	}
	if err := s.Close(); err != nil {
		t.Fatalf("%s: close: %v", what, err)
	}
	if s, err = w.open(); err != nil {
		t.Fatalf("%s: second open: %v", what, err)
	}
	if x, err = s.Session(refA); err != nil || !strings.HasSuffix(content(t, x.Messages()), last) {
		t.Fatalf("%s: the last record is gone: %v", what, err)
	}
	if problems, err := check.Verify(ctx, s, refA); err != nil || len(problems) > 0 {
		t.Fatalf("%s: second verify: %v %v", what, problems, err)
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// operations counts what the workload does on a healthy disk.
func operations(t *testing.T, begin func() *world) (all, changes int) {
	w := begin()
	w.disk.Fail(sessiontest.Fault{At: 1 << 30})
	w.run()
	all, changes = w.disk.Ops()
	w.check(t, w.acked, "healthy disk")
	if w.seals != 2*2 {
		t.Fatalf("%d parts were sealed", w.seals)
	}
	if len(w.acked) != w.begun+2*10 || len(w.synced) == w.begun {
		t.Fatalf("%d records acknowledged, %d synced", len(w.acked), len(w.synced))
	}
	return all, changes
}

// sparse returns the step from one fault to the next. The matrix tries all faults.
func sparse(t *testing.T) int { return suite.Pick(t, 3, 1) }

func TestEveryOperationFailsOnce(t *testing.T) {
	for name, begin := range worlds {
		step := sparse(t)
		if name == "old" && step > 1 {
			step *= 3 // most of what it does, a new one does
		}
		t.Run(name, func(t *testing.T) { everyOperationFailsOnce(t, begin, step) })
	}
}

func everyOperationFailsOnce(t *testing.T, begin func() *world, step int) {
	all, changes := operations(t, begin)
	for _, c := range []struct {
		kind    sessiontest.Kind
		changes bool // reading does not run out of space
		ops     int
	}{{sessiontest.EIO, false, all}, {sessiontest.ENOSPC, true, changes}, {sessiontest.Short, true, changes}} {
		for _, count := range []int{1, 3} { // the operation; and what would clean up after it
			for at := 1; at <= c.ops; at += step {
				w := begin()
				w.disk.Fail(sessiontest.Fault{Kind: c.kind, At: at, Count: count, Changes: c.changes})
				w.run()
				_, where := w.disk.Hit()
				w.disk.Kill()
				w.check(t, w.acked, fmt.Sprintf("kind %d, operations %d+%d fail (%s)", c.kind, at, count, where))
			}
		}
	}
}

func TestEveryNthOperationFails(t *testing.T) {
	for name, begin := range worlds {
		t.Run(name, func(t *testing.T) { everyNthOperationFails(t, begin) })
	}
}

func everyNthOperationFails(t *testing.T, begin func() *world) {
	for _, kind := range []sessiontest.Kind{sessiontest.EIO, sessiontest.ENOSPC, sessiontest.Short} {
		for n := 2; n <= 60; n += sparse(t) {
			for _, changes := range []bool{false, true} {
				w := begin()
				w.disk.Fail(sessiontest.Fault{Kind: kind, Every: n, Changes: changes})
				w.run()
				w.disk.Kill()
				w.check(t, w.acked, fmt.Sprintf("kind %d, every %dth operation fails (changes only: %v)", kind, n, changes))
			}
		}
	}
}

func TestKilledAtEveryOperation(t *testing.T) {
	for name, begin := range worlds {
		t.Run(name, func(t *testing.T) { killedAtEveryOperation(t, begin) })
	}
}

func killedAtEveryOperation(t *testing.T, begin func() *world) {
	_, changes := operations(t, begin)
	for at := 1; at <= changes+1; at += sparse(t) {
		w := begin()
		w.disk.Fail(sessiontest.Fault{Kind: sessiontest.Stopped, At: at, Changes: true})
		w.run()
		_, where := w.disk.Hit()
		w.disk.Kill()
		w.check(t, w.acked, fmt.Sprintf("killed before change %d (%s)", at, where))
	}
}

func TestPowerCutAtEveryOperation(t *testing.T) {
	for name, begin := range worlds {
		t.Run(name, func(t *testing.T) { powerCutAtEveryOperation(t, begin) })
	}
}

func powerCutAtEveryOperation(t *testing.T, begin func() *world) {
	_, changes := operations(t, begin)
	seeds := suite.Pick(t, 4, max(1000/changes, 4))
	for at := 1; at <= changes+1; at += sparse(t) {
		for seed := range seeds {
			w := begin()
			w.disk.Fail(sessiontest.Fault{Kind: sessiontest.Stopped, At: at, Changes: true})
			w.run()
			_, where := w.disk.Hit()
			w.disk.Crash(int64(at*1000 + seed))
			w.check(t, w.synced, fmt.Sprintf("power cut before change %d (%s), seed %d", at, where, at*1000+seed))
		}
	}
}

// A store lives on: power is cut again and again, also while it recovers.
func TestPowerCutsInARow(t *testing.T) {
	_, changes := operations(t, newOldWorld)
	runs := suite.Pick(t, 50, 150)
	for seed := range int64(runs) {
		rng := rand.New(rand.NewSource(seed))
		w := worlds[[]string{"new", "old"}[seed%2]]()
		for round := range 5 {
			w.disk.Fail(sessiontest.Fault{Kind: sessiontest.Stopped, At: 1 + rng.Intn(changes), Changes: true})
			w.run()
			w.disk.Crash(rng.Int63())
			w.acked = nil // what was not synced may be gone
			w.acked = append(w.acked, w.synced...)
			if round == 4 {
				w.check(t, w.synced, fmt.Sprintf("seed %d", seed))
			}
		}
	}
}
