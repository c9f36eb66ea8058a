package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// world is hosts to which anything may happen, and what their appends returned.
type world struct {
	*rig
	mu      sync.Mutex
	records map[string]outcome      // guarded by mu
	sets    map[string]outcome      // contents of the budget; guarded by mu
	rows    map[string]outcome      // of a note; guarded by mu
	only    map[string]session.Edit // what contents of the budget expected; guarded by mu
	made    int
	counts  [3]int
	stale   int // guarded by mu
}

// expected checks that what was set for a certain entry stands behind that, and that every host has the same history.
func (w *world) expected(t *rapid.T) {
	first, err := w.nodes[0].x.History(context.Background(), ctxabi.BudgetFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range w.nodes[1:] {
		if list, err := n.x.History(context.Background(), ctxabi.BudgetFile); err != nil || fmt.Sprint(list) != fmt.Sprint(first) {
			t.Errorf("%s has the history\n%v %v\n%s has\n%v", n.name, list, err, w.nodes[0].name, first)
		}
	}
	stored := map[string]bool{}
	var last session.Revision
	for i, r := range first {
		data, err := w.nodes[i%len(w.nodes)].x.Earlier(context.Background(), ctxabi.BudgetFile, r.Entry)
		if err != nil {
			t.Fatal(err)
		}
		if stored[string(data)] = true; i > 0 && first[i-1].Entry == r.Entry {
			continue // two of one entry: the second is shown
		}
		if e := w.only[string(data)]; e.Only && i > 0 && last.Entry >= e.Seen {
			t.Errorf("entry %d set %q, which had seen the entries before %d, behind entry %d", r.Entry, data, e.Seen, last.Entry)
		}
		last = r
	}
	if now, ok := w.nodes[0].x.LastSet(ctxabi.BudgetFile); ok != (len(first) > 0) || ok && now != first[len(first)-1] {
		t.Errorf("the last set is %v, and the history ends with %v", now, first)
	}
}

// do has one host append a record, or change a setting, and notes what that returned.
func (w *world) do(n *node, kind int, number int) {
	text := fmt.Sprint(number)
	var line string
	var err error
	key := arrival.Key{}
	if number%2 == 0 {
		key = arrival.Key{Conn: 5, Unique: uint64(number) + 1}
	}
	switch kind {
	case 0:
		line = string(message(text))
		_, err = n.x.Messages().Append(context.Background(), log.Batch{Data: message(text), Writer: writer, Key: key})
		if err != nil && outcomeOf(err) == unsure && key != (arrival.Key{}) {
			// As who sends it again. Of the first time, it then knows nothing new unless it succeeds.
			if _, again := n.x.Messages().Append(context.Background(), log.Batch{Data: message(text), Writer: writer, Key: key}); again == nil {
				err = nil
			}
		}
	case 1:
		line = string(event(text))
		_, err = n.x.Events().Append(context.Background(), log.Batch{Data: event(text), Writer: writer, Key: key})
	case 2:
		edit := n.x.Opened(ctxabi.BudgetFile, 1000)
		edit.Only = number%3 != 0
		err = n.x.SetControl(ctxabi.BudgetFile, []byte(text+"\n"), edit)
		w.mu.Lock()
		w.only[text+"\n"] = edit
		if errors.Is(err, ctxabi.ErrStale) {
			w.stale++
		}
		w.sets[text+"\n"] = outcomeOf(err)
		w.mu.Unlock()
	case 3:
		err = n.x.AppendNote(ctxabi.TodoFile, []byte(text+"\n"))
		w.mu.Lock()
		w.rows[text+"\n"] = outcomeOf(err)
		w.mu.Unlock()
	default:
		// Children come, go and get other names; what cannot be done is refused.
		switch name := fmt.Sprint("child-", number%3); number % 4 {
		case 0, 1:
			n.x.MakeChild(name)
		case 2:
			n.x.RenameChild(name, fmt.Sprint("child-", (number+1)%3))
		default:
			n.x.RemoveChild(name)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if line != "" {
		w.records[line] = outcomeOf(err)
		w.counts[outcomeOf(err)]++
	}
}

// kinds of what do does.
const kindsOfWork = 5

func (w *world) actions() map[string]func(*rapid.T) {
	host := rapid.IntRange(0, len(w.nodes)-1)
	work := rapid.IntRange(0, kindsOfWork-1)
	node := func(t *rapid.T) *node { return w.nodes[host.Draw(t, "host")] }
	actions := map[string]func(*rapid.T){
		"one": func(t *rapid.T) {
			w.made++
			w.do(node(t), work.Draw(t, "what"), w.made)
		},
		"many": func(t *rapid.T) {
			var all sync.WaitGroup
			for range rapid.IntRange(2, 12).Draw(t, "many") {
				n, what := node(t), work.Draw(t, "what")
				w.made++
				number := w.made
				all.Go(func() { w.do(n, what, number) })
			}
			all.Wait()
		},
		"all is well": func(*rapid.T) {
			for _, n := range w.nodes {
				n.engine.Heal()
				w.net.Heal(n.name)
				w.net.Cut(n.name, false)
				n.mend()
			}
			w.servers.Fill(false)
		},
		"look": func(t *rapid.T) { n := node(t); n.h.Fresh(context.Background(), n.x, 0) },
		"fault": func(t *rapid.T) {
			n := node(t)
			for range rapid.IntRange(1, 6).Draw(t, "times") {
				n.engine.Inject(fake.Fault(rapid.IntRange(0, fake.Kinds-1).Draw(t, "fault")))
			}
		},
		"peers' fault": func(t *rapid.T) {
			w.net.Inject(node(t).name, peerstest.Fault(rapid.IntRange(0, peerstest.Kinds-1).Draw(t, "fault")))
		},
		"land":        func(*rapid.T) { w.servers.Land() },
		"peers' land": func(*rapid.T) { w.net.Land() },
		"cut":         func(t *rapid.T) { node(t).engine.Cut() },
		"cut peers":   func(t *rapid.T) { w.net.Cut(node(t).name, true) },
		"heal":        func(t *rapid.T) { node(t).engine.Heal() },
		"heal peers":  func(t *rapid.T) { w.net.Cut(node(t).name, false) },
		"forget ids":  func(*rapid.T) { w.servers.Forget() },
		"fill":        func(t *rapid.T) { w.servers.Fill(rapid.IntRange(0, 3).Draw(t, "full") == 0) },
		"kill":        func(t *rapid.T) { n := node(t); n.kill(); n.start() },
		"power":       func(t *rapid.T) { n := node(t); n.cutPower(rapid.Int64().Draw(t, "seed")); n.start() },
		"stop":        func(t *rapid.T) { n := node(t); n.mend(); n.stop(); n.start() },
		"full disk": func(t *rapid.T) {
			node(t).disk.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: rapid.IntRange(1, 20).Draw(t, "at"), Count: 3, Changes: true})
		},
		"room again":   func(t *rapid.T) { node(t).disk.Heal() },
		"kill at work": func(t *rapid.T) { w.killAtWork(t, node(t), work) },
	}
	actions["one more"], actions["yet more"], actions["all is well again"] = actions["one"], actions["many"], actions["all is well"]
	return actions
}

// killAtWork kills a host in the middle of a change.
func (w *world) killAtWork(t *rapid.T, n *node, work *rapid.Generator[int]) {
	n.disk.Fail(sessiontest.Fault{Kind: sessiontest.Stopped, At: rapid.IntRange(1, 25).Draw(t, "at"), Changes: true})
	for range rapid.IntRange(1, 4).Draw(t, "before") {
		w.made++
		w.do(n, work.Draw(t, "what"), w.made)
	}
	n.kill()
	n.start()
}

// mend takes faults away from the disk, and starts a host anew that trusts its disk no more.
func (n *node) mend() {
	n.disk.Heal()
	if n.x.Messages().IsBroken() || n.x.Events().IsBroken() {
		n.kill()
		n.start()
	}
}

// cutPower ends the host as a loss of power does.
func (n *node) cutPower(seed int64) {
	n.r.net.Join(n.name, nil)
	n.disk.Crash(seed)
	n.h.Close()
	n.s.Close()
}

func TestNothingIsLostOrDoubledWhateverHappens(t *testing.T) {
	var counts [3]int
	var handed, taken, conflicts, unknown uint64
	stale := 0
	rapid.Check(t, func(t *rapid.T) {
		w := &world{rig: newRig(t, "a", "b", "c"), records: map[string]outcome{}, sets: map[string]outcome{}, rows: map[string]outcome{}, only: map[string]session.Edit{}}
		for range 3 {
			t.Repeat(w.actions())
		}
		for _, n := range w.nodes {
			n.mend()
		}
		held(t, w.agree(), w.records)
		note, err := w.nodes[0].x.Note(ctxabi.TodoFile)
		if err != nil {
			t.Error(err)
		}
		held(t, string(note.Own), w.rows)
		if now := w.nodes[0].content(ctxabi.BudgetFile); now != "" {
			if o, ok := w.sets[now]; !ok || o == refused {
				t.Errorf("the budget is %q, which was not stored", now)
			}
		}
		w.expected(t)
		stale += w.stale
		for _, n := range w.nodes {
			s := n.h.Stats()
			handed, taken, conflicts, unknown = handed+s.Handed, taken+s.Taken, conflicts+s.Conflicts, unknown+s.Unknown
			n.stop()
		}
		for i, c := range w.counts {
			counts[i] += c
		}
	})
	if counts[stored] < 200 || counts[refused] == 0 || counts[unsure] == 0 || handed == 0 || taken == 0 || conflicts == 0 || unknown == 0 {
		t.Errorf("stored, refused, unknown: %d; handed over %d, taken %d, conflicts %d, without an answer %d: too few to say anything", counts, handed, taken, conflicts, unknown)
	}
	if stale == 0 {
		t.Error("nothing was refused that expected another entry")
	}
	t.Logf("expected another entry: %d", stale)
	t.Logf("stored, refused, unknown: %d; handed over %d, taken %d, conflicts %d, without an answer %d", counts, handed, taken, conflicts, unknown)
}
