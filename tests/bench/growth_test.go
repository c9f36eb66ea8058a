package bench

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// grownSession is one session of each length, in each place.
type grownSession struct {
	n    int            // messages at the start
	next map[string]int // by place: the record to come
	log  map[string]string
	most map[string]oneTurn // by place: the turn that took the most of the daemon's processor, after the first pack
}

// benchGrowth measures sessions of several lengths: packs after appends, the worst of them, and the first after a start.
func benchGrowth(t *testing.T, z sizes, tab *table) {
	serving := daemons(t, harness.Options{})
	defer stop(serving)
	var sessions []*grownSession
	for _, n := range z.history {
		s := &grownSession{n, map[string]int{}, map[string]string{}, map[string]oneTurn{}}
		kind := "turn"
		if n > 1_000_000 {
			kind = "short"
		}
		for _, p := range serving {
			s.log[p.name] = p.log(t, fmt.Sprintf("of-%d", n))
			s.next[p.name] = n
			ns := elapsed(func() { p.run(t, "history", s.log[p.name], n, kind) })
			if fi, err := os.Stat(s.log[p.name]); err != nil {
				t.Fatal(err)
			} else {
				t.Logf("%s: wrote %d messages, %d MB, in %s", p.name, n, fi.Size()/1e6, format("ns", ns))
			}
			s.take(t, p, "turn", 1)
			delete(s.most, p.name)
		}
		sessions = append(sessions, s)
		tab.Lengths = append(tab.Lengths, float64(n))
	}
	afterAppend(t, z, tab, serving, sessions)
	worstOfAll(t, z, tab, serving, sessions)
	afterStart(t, z, tab, serving, sessions)
	appends := grown{"append of 1 KiB, the daemon's processor", "ns", nil}
	p := of(serving, ctxfs)
	for _, s := range sessions {
		from := cpuClock(p.daemon())
		p.run(t, "append", s.log[ctxfs], z.appends)
		appends.By = append(appends.By, (cpuClock(p.mount.PID())-from)/float64(z.appends))
	}
	tab.Growth = append(tab.Growth, appends)
}

func (s *grownSession) take(t *testing.T, p *site, kind string, count int) []oneTurn {
	t.Helper()
	all := takeTurns(t, p, s.log[p.name], kind, s.next[p.name], count)
	s.next[p.name] += count
	for _, x := range all {
		if x.cpu > s.most[p.name].cpu {
			s.most[p.name] = x
		}
	}
	return all
}

// afterAppend measures packs after single appends.
func afterAppend(t *testing.T, z sizes, tab *table, serving []*site, sessions []*grownSession) {
	stop := profile(t, of(serving, ctxfs).daemon(), "after-append")
	all := make([]map[string][]oneTurn, len(sessions))
	for i := range all {
		all[i] = map[string][]oneTurn{}
	}
	for r := range z.rounds {
		for i, s := range sessions {
			for k := range serving {
				p := serving[(k+r)%len(serving)]
				all[i][p.name] = append(all[i][p.name], s.take(t, p, "turn", z.steps)...)
			}
		}
	}
	stop()
	most := map[float64]map[string]float64{50: {}, 99: {}}
	p50 := make([]map[string]float64, len(sessions))
	growth := []grown{{"pack after one append, p50, the daemon's processor", "ns", nil}, {"... p99", "ns", nil}, {"... on the clock, p50", "ns", nil}}
	for i, s := range sessions {
		size := thousands(s.n) + " messages"
		wall := byPlace(all[i], func(x oneTurn) (float64, bool) { return x.wall, true })
		for k, p := range []float64{50, 99} {
			tab.compare(fmt.Sprintf("`cat pack.md` after one append, %s, p%g", size, p), "ns", wall, p, "")
			cpu := byPlace(all[i], func(x oneTurn) (float64, bool) { return x.cpu, x.what != request })
			r := tab.compare(fmt.Sprintf("... the daemon's processor, p%g", p), "ns", cpu, p, "")
			for place, v := range r.Figure {
				most[p][place] = max(most[p][place], v)
			}
			if p == 50 {
				p50[i] = r.Figure
			}
			growth[k].By = append(growth[k].By, r.Figure[ctxfs])
		}
		growth[2].By = append(growth[2].By, median(wall[ctxfs]))
		for _, kind := range []struct {
			what int
			name string
		}{{plain, "plain turns"}, {compaction, "compactions"}, {request, "requests of the user"}} {
			cpu := byPlace(all[i], func(x oneTurn) (float64, bool) { return x.cpu, x.what == kind.what })
			if n := len(cpu[ctxfs]); n > 0 {
				tab.compare(fmt.Sprintf("... %s (%d), p50", kind.name, n), "ns", cpu, 50, "")
				tab.compare(fmt.Sprintf("... %s, worst", kind.name), "ns", cpu, 100, "")
			}
		}
		tab.compare("... and with what the daemon does behind the reader, p50", "ns", byPlace(all[i], func(x oneTurn) (float64, bool) { return x.all, true }), 50, "")
	}
	tab.Growth = append(tab.Growth, growth...)
	least := leastTurn(t, of(serving, ctxfs), sessions[len(sessions)-1])
	tab.absolute("the floor of such a pack: its hash and copy, the count of one record, four round trips", "ns", least, 0)
	for p, id := range map[float64]string{50: "plain-p50", 99: "plain-p99"} {
		tab.reach(id, most[p][ctxfs])
		tab.floor(id, least)
		if v, ok := most[p][before]; ok {
			tab.was(id, v)
		}
	}
	if i := slices.Index(z.history, 1_000_000); i > 0 {
		tab.reach("growth", p50[i][ctxfs]/p50[0][ctxfs])
		if v := p50[i][before]; v > 0 {
			tab.was("growth", v/p50[0][before])
		}
		tab.floor("growth", 1)
	}
}

// leastTurn measures what a pack after one append cannot do without: the count of one record, a copy and the hash of the
// pack, and the daemon's part of four round trips.
func leastTurn(t *testing.T, p *site, s *grownSession) float64 {
	t.Helper()
	pack, err := os.ReadFile(filepath.Join(filepath.Dir(s.log[p.name]), ctxabi.PackFile))
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	var here []float64
	for i := range 50 {
		record := string(turn(i))
		begin := time.Now()
		counter.Count(record)
		sha256.Sum256(slices.Clone(pack))
		here = append(here, float64(time.Since(begin)))
	}
	const trips = 2000
	from := cpuClock(p.daemon())
	p.run(t, "ask", s.log[p.name], trips)
	return median(here) + 4*(cpuClock(p.daemon())-from)/trips
}

// worstOfAll looks for the worst single pack after the first: among the turns of before, and further ones with records
// whose estimate is too low, or groups of calls that do not fit, so that a fold is made tighter.
func worstOfAll(t *testing.T, z sizes, tab *table, serving []*site, sessions []*grownSession) {
	g := grown{"worst single pack after the first, the daemon's processor", "ns", nil}
	most := map[string]float64{}
	for _, s := range sessions {
		figure := map[string]float64{}
		for _, p := range serving {
			s.take(t, p, "dense", z.dense)
			s.next[p.name] += 20 - s.next[p.name]%20 // a group begins
			s.take(t, p, "grouped", z.dense)
			figure[p.name] = s.most[p.name].cpu
			most[p.name] = max(most[p.name], figure[p.name])
		}
		what := []string{"a plain turn", "a compaction", "a request of the user"}[s.most[ctxfs].what]
		tab.Rows = append(tab.Rows, row{Work: fmt.Sprintf("worst single pack, %s messages (%s; %d folds were made tighter), the daemon's processor",
			thousands(s.n), what, tighter(t, s.log[ctxfs])), Unit: "ns", Figure: figure})
		g.By = append(g.By, figure[ctxfs])
	}
	tab.Growth = append(tab.Growth, g)
	tab.reach("worst", most[ctxfs])
	tab.floor("worst", g.By[0])
	if v, ok := most[before]; ok {
		tab.was("worst", v)
	}
}

// tighter counts the packs of a session for which the journal was folded anew to fit.
func tighter(t *testing.T, log string) (n int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(filepath.Dir(log), ctxabi.PacksFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), "folded tighter")
}

// afterStart measures the first pack after a start. Each time there is one record more than the last pack had, so that no
// earlier build serves.
func afterStart(t *testing.T, z sizes, tab *table, serving []*site, sessions []*grownSession) {
	growth := []grown{{"first pack after a start, the daemon's processor", "ns", nil}, {"... the daemon's private memory then", "bytes", nil}}
	var least, leastMemory float64
	for i, s := range sessions {
		wall, cpu, private, mapped, peak := samples{}, samples{}, samples{}, samples{}, samples{}
		rounds := z.rounds
		if s.n > 1_000_000 {
			rounds = min(rounds, 2)
		}
		for range rounds {
			for _, p := range serving {
				s.take(t, p, "turn", 1)
				p.run(t, "history", s.log[p.name], 1, "turn")
				p.mount.Restart()
				stop := profile(t, p.mount.PID(), "first-pack")
				from := cpuClock(p.mount.PID())
				wall.add(p.name, p.run(t, "read", filepath.Join(filepath.Dir(s.log[p.name]), ctxabi.PackFile), 1, 128<<10)[0])
				cpu.add(p.name, cpuClock(p.mount.PID())-from)
				stop()
				m := harness.UsageOf(t, p.mount.PID())
				private.add(p.name, m.Private)
				mapped.add(p.name, m.Mapped)
				peak.add(p.name, m.Peak)
			}
		}
		first := tab.compare(fmt.Sprintf("first pack after a start, %s messages, the daemon's processor", thousands(s.n)), "ns", cpu, 50, "")
		tab.compare("... on the clock", "ns", wall, 50, "")
		held := tab.compare("... the daemon's private memory then", "bytes", private, 50, "")
		tab.compare("... mapped pages of files beside it", "bytes", mapped, 50, "")
		tab.compare("... the peak of both", "bytes", peak, 50, "")
		growth[0].By = append(growth[0].By, first.Figure[ctxfs])
		growth[1].By = append(growth[1].By, held.Figure[ctxfs])
		if i == 0 {
			least, leastMemory = first.Figure[ctxfs], held.Figure[ctxfs]
		}
		switch s.n {
		case 1_000_000:
			note(tab, "first", first, least)
			note(tab, "first-memory", held, leastMemory)
		case 10_000_000:
			note(tab, "first-largest", first, least)
		}
	}
	tab.Growth = append(tab.Growth, growth...)
	withoutIndex(t, z, tab, serving, sessions[max(0, slices.Index(z.history, 1_000_000))])
}

// withoutIndex measures the first pack after a start when the caches beside the log are gone.
func withoutIndex(t *testing.T, z sizes, tab *table, serving []*site, s *grownSession) {
	wall, held := samples{}, samples{}
	for range min(z.rounds, 2) {
		for _, p := range serving {
			p.run(t, "history", s.log[p.name], 1, "turn")
			p.mount.Stop()
			dir := filepath.Join(p.mount.Store, strings.TrimPrefix(filepath.Dir(s.log[p.name]), p.dir), ctxabi.InternalDir)
			names, err := filepath.Glob(filepath.Join(dir, "index*"))
			if err != nil || len(names) == 0 {
				t.Fatalf("%s has no index to remove: %v", dir, err)
			}
			for _, name := range names {
				if err := os.RemoveAll(name); err != nil {
					t.Fatal(err)
				}
			}
			p.mount.Restart()
			wall.add(p.name, p.run(t, "read", filepath.Join(filepath.Dir(s.log[p.name]), ctxabi.PackFile), 1, 128<<10)[0])
			held.add(p.name, harness.UsageOf(t, p.daemon()).Peak)
		}
	}
	tab.compare(fmt.Sprintf("first pack after a start, %s messages, index removed, on the clock", thousands(s.n)), "ns", wall, 50, "")
	tab.compare("... the daemon's peak of memory", "bytes", held, 50, "")
}
