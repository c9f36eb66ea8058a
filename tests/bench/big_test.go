package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// benchBig measures sessions of several lengths: the pack after each append,
// the first pack after a start with and without an index, memory.
func benchBig(t *testing.T, z sizes, tab *table) {
	store := t.TempDir()
	var refs []ctxabi.Ref
	for _, n := range z.history {
		refs = append(refs, ctxabi.Ref{UID: harness.Self(), Agent: "bench", Session: fmt.Sprintf("of-%d", n)})
	}
	largest := z.history[len(z.history)-1]
	bytes := build(t, store, refs, z.history)
	m := harness.Start(t, harness.Options{Store: store})
	defer func() {
		if m.PID() != 0 {
			m.Stop()
		}
	}()
	p := &site{name: ctxfs, dir: m.Dir, mount: m}
	next := append([]int(nil), z.history...)
	log := func(i int) string { return filepath.Join(m.Dir, refs[i].Path(), ctxabi.MessagesFile) }
	pack := func(i int) string { return filepath.Join(m.Dir, refs[i].Path(), ctxabi.PackFile) }
	step := func(i, count int) []float64 {
		ns := p.run(t, "append-read", log(i), pack(i), next[i], count)
		next[i] += count
		return ns
	}
	for i := range refs {
		step(i, 1)
	}

	all := make([][]float64, len(refs))
	stop := profile(t, m.PID(), "after-append")
	for range z.rounds {
		for i := range refs {
			all[i] = append(all[i], step(i, z.steps)...)
		}
	}
	stop()
	p50 := make([]float64, len(refs))
	for i, n := range z.history {
		p50[i] = median(all[i])
		tab.absolute(fmt.Sprintf("`cat pack.md` after one append, %d messages, p50", n), "ns", p50[i], 5e6)
		tab.absolute(fmt.Sprintf("`cat pack.md` after one append, %d messages, p99", n), "ns", percentile(all[i], 99), 50e6)
	}
	last := len(refs) - 1
	growth := func(large, small int) {
		r := row{Work: fmt.Sprintf("... p50 at %d against p50 at %d messages", z.history[large], z.history[small]), Unit: "ns",
			Figure: map[string]float64{ctxfs: p50[large]}, Ratio: p50[large] / p50[small], Against: ctxfs, Goal: "≤ 1.5"}
		met := r.Ratio <= 1.5
		r.Met = &met
		tab.Rows = append(tab.Rows, r)
	}
	growth(slices.Index(z.history, 100_000), slices.Index(z.history, 1000))
	if largest > 100_000 {
		growth(last, 0)
	}
	for i := range refs {
		var p struct {
			Tokens int `json:"tokens"`
			Budget int `json:"budget_tokens"`
		}
		data, err := os.ReadFile(filepath.Join(m.Dir, refs[i].Path(), ctxabi.PackJSONFile))
		if err == nil {
			err = json.Unmarshal(data, &p)
		}
		if err != nil || p.Tokens == 0 || p.Tokens > p.Budget {
			t.Errorf("the pack of %d messages has %d tokens, the budget is %d: %v", next[i], p.Tokens, p.Budget, err)
		}
	}

	// The first pack after a start; one record more than the last pack had, so that no earlier build can serve.
	firstPack := func(name string, before func()) (figure, resident, peak float64) {
		var ns, res, top []float64
		for range z.rounds {
			p.run(t, "append-read", log(last), "/dev/null", next[last], 1)
			next[last]++
			m.Stop()
			before()
			m.Restart()
			stop := profile(t, m.PID(), name)
			ns = append(ns, p.run(t, "read", pack(last), 1, 128<<10)[0])
			stop()
			a, b := rss(t, m.PID())
			res, top = append(res, a), append(top, b)
		}
		return median(ns), median(res), median(top)
	}
	ram := float64(64<<20 + 64*largest)
	size := fmt.Sprintf("%d messages, %.3g MB", largest, float64(bytes)/1e6)
	ns, resident, peak := firstPack("first-pack", func() {})
	tab.absolute("first pack after a start, "+size+", index present", "ns", ns, 200e6)
	tab.absolute("... the daemon's memory after it", "bytes", resident, ram)
	tab.absolute("... and its peak", "bytes", peak, 0)
	ns, resident, peak = firstPack("first-pack-no-index", func() {
		names, err := filepath.Glob(filepath.Join(store, refs[last].Path(), ctxabi.InternalDir, "index*"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no index to remove: %v", err)
		}
		for _, name := range names {
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
		}
	})
	tab.absolute("first pack after a start, "+size+", index removed", "ns", ns, float64(bytes)/300e6*1e9+1e9)
	tab.absolute("... the daemon's memory after it", "bytes", resident, ram)
	tab.absolute("... and its peak", "bytes", peak, 0)
}

// build makes a store with one session of each length, some records a commit, and gives the bytes of the last.
func build(t *testing.T, dir string, refs []ctxabi.Ref, lengths []int) (bytes int64) {
	t.Helper()
	st, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	for i, ref := range refs {
		x, err := st.Create(ref, session.Owner{UID: ref.UID, GID: ref.UID, Mode: 0o700})
		if err != nil {
			t.Fatal(err)
		}
		ns := elapsed(func() {
			for n := 0; n < lengths[i]; {
				var data []byte
				for range min(32, lengths[i]-n) {
					data = append(data, turn(n)...)
					n++
				}
				if bytes, err = x.Messages().Append(context.Background(), session.Batch{Data: data}); err != nil {
					t.Fatal(err)
				}
			}
		})
		t.Logf("built %d messages, %d MB, in %s", lengths[i], bytes/1e6, format("ns", ns))
	}
	return bytes
}

// benchMany measures a store of many idle sessions.
func benchMany(t *testing.T, z sizes, tab *table) {
	m := harness.Start(t, harness.Options{MaxFDs: 16384}) // of the sessions just used, for a while
	status := filepath.Join(m.Dir, ctxabi.StatusFile)
	home := filepath.Join(m.Dir, ctxabi.HomeDir, fmt.Sprint(harness.Self()), ctxabi.AgentDir, "bench", ctxabi.SessionDir)
	make := func(n int) error {
		dir := filepath.Join(home, fmt.Sprintf("s%05d", n))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(dir, ctxabi.MessagesFile), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		for i := range 4 {
			if _, err := f.Write(turn(i)); err != nil {
				return err
			}
		}
		return f.Close()
	}
	alone := min(100, z.sessions/2)
	ns := elapsed(func() {
		for n := range alone {
			if err := make(n); err != nil {
				t.Fatal(err)
			}
		}
	})
	tab.absolute("make a session and append 4 records", "ns", ns/float64(alone), 0)
	var g errgroup.Group
	g.SetLimit(8)
	for n := alone; n < z.sessions; n++ {
		g.Go(func() error { return make(n) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	var answer, resident []float64
	for range z.rounds {
		m.Stop()
		answer = append(answer, elapsed(func() {
			m.Restart()
			if _, err := os.ReadFile(status); err != nil {
				t.Fatal(err)
			}
		}))
		r, _ := rss(t, m.PID())
		resident = append(resident, r)
	}
	tab.absolute(fmt.Sprintf("mount to first answer, %d sessions in the store", z.sessions), "ns", median(answer), 300e6)
	tab.absolute("... the daemon's memory then", "bytes", median(resident), 100e6)
	list := elapsed(func() {
		names, err := os.ReadDir(home)
		if err != nil || len(names) != z.sessions {
			t.Fatalf("%d sessions listed: %v", len(names), err)
		}
		for _, e := range names {
			if _, err := os.Stat(filepath.Join(home, e.Name(), ctxabi.MessagesFile)); err != nil {
				t.Fatal(err)
			}
		}
	})
	tab.absolute("stat messages.jsonl of each of them", "ns", list/float64(z.sessions), 0)
	r, _ := rss(t, m.PID())
	tab.absolute("... the daemon's memory after it", "bytes", r, 100e6)
}
