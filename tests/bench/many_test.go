package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// benchMany measures a store of many idle sessions: its start, a stat of each, and a search of all.
func benchMany(t *testing.T, z sizes, tab *table) {
	serving := daemons(t, harness.Options{MaxFDs: 16384}) // of the sessions just used, for a while
	defer stop(serving)
	home := func(p *site) string { return filepath.Join(p.dir, ctxabi.HomeDir, fmt.Sprint(harness.Self())) }
	agents := func(p *site) string { return filepath.Join(home(p), ctxabi.AgentDir, "bench", ctxabi.SessionDir) }
	write := func(p *site, n int) error {
		dir := filepath.Join(agents(p), fmt.Sprintf("s%05d", n))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(dir, ctxabi.MessagesFile), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		for i := range 4 {
			record := turn(i)
			if i == 3 {
				record = []byte(harness.Message("user", fmt.Sprintf("only%dx of many", n)))
			}
			if _, err := f.Write(record); err != nil {
				return err
			}
		}
		return f.Close()
	}
	alone := min(100, z.sessions/2)
	first := samples{}
	for n := range alone {
		for _, p := range serving {
			first.add(p.name, elapsed(func() {
				if err := write(p, n); err != nil {
					t.Fatal(err)
				}
			}))
		}
	}
	tab.compare("make a session and append 4 records", "ns", first, 50, "")
	for _, p := range serving {
		var g errgroup.Group
		g.SetLimit(8)
		for n := alone; n < z.sessions; n++ {
			g.Go(func() error { return write(p, n) })
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	answer, started, held, stat, after, idle := samples{}, samples{}, samples{}, samples{}, samples{}, samples{}
	for range z.rounds {
		for _, p := range serving {
			p.mount.Stop()
			answer.add(p.name, elapsed(func() {
				p.mount.Restart()
				if _, err := os.ReadFile(filepath.Join(p.dir, ctxabi.StatusFile)); err != nil {
					t.Fatal(err)
				}
			}))
			started.add(p.name, cpuClock(p.daemon()))
			held.add(p.name, harness.UsageOf(t, p.daemon()).Resident)
			stat.add(p.name, elapsed(func() {
				names, err := os.ReadDir(agents(p))
				if err != nil || len(names) != z.sessions {
					t.Fatalf("%d sessions listed: %v", len(names), err)
				}
				for _, e := range names {
					if _, err := os.Stat(filepath.Join(agents(p), e.Name(), ctxabi.MessagesFile)); err != nil {
						t.Fatal(err)
					}
				}
			})/float64(z.sessions))
			after.add(p.name, harness.UsageOf(t, p.daemon()).Resident)
			time.Sleep(z.idle / 4) // a daemon that nobody asks returns what is free
			idle.add(p.name, harness.UsageOf(t, p.daemon()).Resident)
		}
	}
	of := thousands(z.sessions) + " sessions"
	mount := tab.compare("mount to first answer, "+of+" in the store", "ns", answer, 50, "")
	note(tab, "mount", mount, tab.compare("... the daemon's processor", "ns", started, 50, "").Figure[ctxfs])
	begin := tab.compare("... the daemon's memory then", "bytes", held, 50, "")
	tab.compare("stat messages.jsonl of each of them", "ns", stat, 50, "")
	r := tab.compare("... the daemon's memory after it", "bytes", after, 50, "")
	note(tab, "many-memory", r, begin.Figure[ctxfs])
	tab.compare(fmt.Sprintf("... after %s more in which nobody asks", z.idle/4), "bytes", idle, 50, "")
	searchMany(t, z, tab, serving, func(p *site) string { return filepath.Join(home(p), ctxabi.HomeSearchDir) })
}

// note notes a row's figure as that of a goal, with the floor.
func note(tab *table, id string, r row, floor float64) {
	tab.reach(id, r.Figure[ctxfs])
	if floor > 0 {
		tab.floor(id, floor)
	}
	if v, ok := r.Figure[before]; ok {
		tab.was(id, v)
	}
}

// searchMany measures a search of all sessions of a user: the first ever, the next ones, and the first after a start.
func searchMany(t *testing.T, z sizes, tab *table, serving []*site, dir func(p *site) string) {
	look := func(p *site, query string) string {
		b, err := os.ReadFile(filepath.Join(dir(p), query))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	// ask returns what one search takes on the clock, and of the daemon's processor.
	ask := func(p *site, query string) (wall, cpu float64) {
		from := cpuClock(p.daemon())
		wall = elapsed(func() { look(p, query) })
		return wall, cpuClock(p.daemon()) - from
	}
	complete := func(p *site) {
		for strings.HasPrefix(look(p, "many?n=1"), "# incomplete") { // each waits for a while
		}
	}
	all := "search of all " + thousands(z.sessions) + " sessions of a user"
	firsts := func(name string) row {
		wall, cpu, whole := samples{}, samples{}, samples{}
		rounds := z.rounds
		if name == "no index" {
			rounds = 1
		}
		for range rounds {
			for _, p := range serving {
				if name != "no index" {
					p.mount.Restart()
				}
				w, c := ask(p, "request")
				wall.add(p.name, w)
				cpu.add(p.name, c)
				whole.add(p.name, w+elapsed(func() { complete(p) }))
			}
		}
		tab.compare("first "+all+", "+name, "ns", wall, 50, "")
		tab.compare("... until all of them are looked at", "ns", whole, 50, "")
		return tab.compare("... the daemon's processor for the first", "ns", cpu, 50, "")
	}
	firsts("no index")
	wall, cpu, held := samples{}, samples{}, samples{}
	for i := range 20 {
		k := i * (z.sessions / 20)
		for _, p := range serving {
			w, c := ask(p, fmt.Sprintf("only%dx many", k))
			wall.add(p.name, w)
			cpu.add(p.name, c)
			if a := look(p, fmt.Sprintf("only%dx", k)); !strings.Contains(a, fmt.Sprintf("s%05d/", k)) {
				t.Errorf("%s, session %d: %s", p.name, k, a)
			}
		}
	}
	for _, p := range serving {
		held.add(p.name, harness.UsageOf(t, p.daemon()).Resident)
	}
	tab.compare("the next ones, p50", "ns", wall, 50, "")
	tab.compare("... p95", "ns", wall, 95, "")
	next := tab.compare("... the daemon's processor, p50", "ns", cpu, 50, "")
	tab.compare("... the daemon's memory then", "bytes", held, 50, "")
	note(tab, "many-search", next, 0)
	note(tab, "many-first", firsts("after a start"), next.Figure[ctxfs])
}
