package tend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// world is a cluster to which anything may happen, and what its appends returned.
type world struct {
	*rig
	mu      sync.Mutex
	stored  map[string]bool // records that were acknowledged; guarded by mu
	refused map[string]bool // records that are certain not to be there; guarded by mu
	made    int
	did     Report
}

// append has a host append a record, and notes what that returned.
func (w *world) append(n *node, number int) {
	text := fmt.Sprint(number)
	l, data := n.x.Messages(), message(text)
	if number%3 == 0 {
		l, data = n.x.Events(), event(text)
	}
	_, err := l.Append(ctx, log.Batch{Data: data, Writer: writer})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.stored[string(data)] = true
	} else if !errors.Is(err, ctxabi.ErrIO) {
		w.refused[string(data)] = true
	}
}

// tend has a maintainer work, which may fail.
func (w *world) tend() {
	report, _ := w.tender.Round(ctx)
	w.did.Trimmed, w.did.Parked, w.did.Collected = w.did.Trimmed+report.Trimmed, w.did.Parked+report.Parked, w.did.Collected+report.Collected
}

func (w *world) actions() map[string]func(*rapid.T) {
	host := rapid.IntRange(0, 2)
	node := func(t *rapid.T) *node { return w.nodes[host.Draw(t, "host")] }
	one := func(t *rapid.T) { w.made++; w.append(node(t), w.made) }
	heal := func(*rapid.T) {
		for _, n := range w.nodes {
			n.engine.Heal()
			w.net.Heal(n.name)
			w.net.Cut(n.name, false)
			n.mend()
		}
	}
	return map[string]func(*rapid.T){
		"one": one, "one more": one, "yet one": one,
		"many": func(t *rapid.T) {
			var all sync.WaitGroup
			for range rapid.IntRange(2, 8).Draw(t, "many") {
				n := node(t)
				w.made++
				number := w.made
				all.Go(func() { w.append(n, number) })
			}
			all.Wait()
		},
		"set": func(t *rapid.T) {
			w.made++
			node(t).x.SetControl(ctxabi.BudgetFile, fmt.Appendf(nil, "%d\n", 1000+w.made))
		},
		"pin": func(t *rapid.T) {
			node(t).x.SetControl(ctxabi.PinnedDir+"/a.md", []byte(strings.Repeat("pin ", 1+w.made)))
		},
		"child":    func(t *rapid.T) { node(t).x.MakeChild(fmt.Sprint("c", w.made%3)) },
		"no child": func(t *rapid.T) { node(t).x.RemoveChild(fmt.Sprint("c", w.made%3)) },
		"look":     func(t *rapid.T) { n := node(t); n.h.Fresh(ctx, n.x, 0) },
		"share":    func(t *rapid.T) { n := node(t); n.shelf.Round(ctx, n.h) },
		"snapshot": func(t *rapid.T) { n := node(t); n.shelf.Snapshot(ctx, n.h, n.x) },
		"tend":     func(*rapid.T) { w.tend(); w.tend() },
		// Nothing is under way for as long as that.
		"a week": func(*rapid.T) {
			w.servers.Land()
			w.tend()
			w.later(ParkAfter)
			w.tend()
			w.later(time.Hour)
			w.tend()
		},
		// Nobody may go by the time of the day.
		"the clock is set": func(t *rapid.T) {
			w.now = w.now.Add(time.Duration(rapid.IntRange(-24, 24).Draw(t, "hours")) * time.Hour)
			w.tend()
		},
		"the maintainer's machine starts again": func(*rapid.T) { w.reboot(); w.tend() },
		"another maintainer": func(*rapid.T) {
			w.newTender()
			w.tend()
		},
		"heal": heal, "heal again": heal,
		"fault": func(t *rapid.T) {
			n := node(t)
			for range rapid.IntRange(1, 3).Draw(t, "times") {
				n.engine.Inject(fake.Fault(rapid.IntRange(0, fake.Kinds-1).Draw(t, "fault")))
			}
		},
		"peers' fault": func(t *rapid.T) {
			w.net.Inject(node(t).name, peerstest.Fault(rapid.IntRange(0, peerstest.Kinds-1).Draw(t, "fault")))
		},
		"land":  func(*rapid.T) { w.servers.Land(); w.net.Land() },
		"cut":   func(t *rapid.T) { node(t).engine.Cut() },
		"kill":  func(t *rapid.T) { n := node(t); n.kill(); n.start() },
		"power": func(t *rapid.T) { n := node(t); n.crash(rapid.Int64().Draw(t, "seed")); n.start() },
		"lose the disk": func(t *rapid.T) {
			n := node(t)
			n.kill()
			n.disk = sessiontest.New()
			n.start()
		},
		"kill at work": func(t *rapid.T) {
			n := node(t)
			n.disk.Fail(sessiontest.Fault{Kind: sessiontest.Stopped, At: rapid.IntRange(1, 60).Draw(t, "at"), Changes: true})
			n.h.Fresh(ctx, n.x, 0)
			w.made++
			w.append(n, w.made)
			n.shelf.Round(ctx, n.h)
			n.kill()
			n.start()
		},
		"full disk": func(t *rapid.T) {
			node(t).disk.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: rapid.IntRange(1, 40).Draw(t, "at"), Count: 3, Changes: true})
		},
	}
}

// mend takes faults away from the disk, and starts a host anew that trusts its disk no more.
func (n *node) mend() {
	n.disk.Heal()
	if n.x.Messages().IsBroken() || n.x.Events().IsBroken() {
		n.kill()
		n.start()
	}
}

// crash ends the host as a loss of power does.
func (n *node) crash(seed int64) {
	n.r.net.Join(n.name, nil)
	n.disk.Crash(seed)
	n.h.Close()
	n.s.Close()
}

func TestNothingIsLostWhateverIsTrimmedAndParked(t *testing.T) {
	var all Report
	dir := t.TempDir()
	suite.Check(t, 40, func(t *rapid.T) {
		os.Remove(filepath.Join(dir, stateFile))
		w := &world{rig: newRig(t, dir, "a", "b", "c"), stored: map[string]bool{}, refused: map[string]bool{}}
		t.Repeat(w.actions())
		for _, n := range w.nodes {
			n.engine.Heal()
			w.net.Heal(n.name)
			w.net.Cut(n.name, false)
			n.mend()
		}
		w.servers.Land()
		w.net.Land()
		w.add("fresh")
		lines := map[string]int{}
		for line := range strings.Lines(w.agree()) {
			if lines[line]++; lines[line] > 1 || w.refused[line] {
				t.Errorf("%q stands there %d times, refused: %v", line, lines[line], w.refused[line])
			}
		}
		for line := range w.stored {
			if lines[line] != 1 {
				t.Errorf("%q was acknowledged and is lost", line)
			}
		}
		for _, n := range w.nodes {
			n.stop()
		}
		all.Trimmed, all.Parked, all.Collected = all.Trimmed+w.did.Trimmed, all.Parked+w.did.Parked, all.Collected+w.did.Collected
	})
	if all.Trimmed == 0 || all.Parked == 0 || all.Collected == 0 {
		t.Errorf("%+v: too little to say anything", all)
	}
	t.Logf("trimmed %d, parked %d, collected %d", all.Trimmed, all.Parked, all.Collected)
}
