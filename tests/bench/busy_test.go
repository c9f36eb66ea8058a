package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// benchBusy measures what the daemon holds after many packs of one session.
func benchBusy(t *testing.T, z sizes, tab *table) {
	serving := daemons(t, harness.Options{})
	defer stop(serving)
	log := map[string]string{}
	one, many, private, peak := samples{}, samples{}, samples{}, samples{}
	for _, p := range serving {
		log[p.name] = p.log(t, "busy")
		takeTurns(t, p, log[p.name], "turn", 0, 1)
		one.add(p.name, harness.UsageOf(t, p.daemon()).Resident)
	}
	const batch = 50
	for taken := 0; taken < z.packs; taken += batch {
		for _, p := range serving {
			takeTurns(t, p, log[p.name], "turn", 1+taken, batch)
		}
	}
	for _, p := range serving {
		m := harness.UsageOf(t, p.daemon())
		many.add(p.name, m.Resident)
		private.add(p.name, m.Private)
		peak.add(p.name, m.Peak)
	}
	tab.compare("the daemon's memory after one pack", "bytes", one, 50, "")
	r := tab.compare(fmt.Sprintf("... after %s packs of one session", thousands(z.packs)), "bytes", many, 50, "")
	tab.compare("... of it private", "bytes", private, 50, "")
	tab.compare("... the peak", "bytes", peak, 50, "")
	note(tab, "busy-memory", r, median(one[ctxfs]))
}

// benchIdle measures what a daemon does that nobody asks: all at the same time, with a session of 10,000 messages open.
func benchIdle(t *testing.T, z sizes, tab *table) {
	sites := without(newSites(t), native, passthrough)
	defer stop(sites)
	for _, p := range sites {
		file := p.log(t, "idle")
		p.run(t, "history", file, z.idleMessages, "turn")
		if p.ours() {
			p.run(t, "read", filepath.Join(filepath.Dir(file), ctxabi.PackFile), 1, 128<<10)
		}
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0) // an agent that waits for its user
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	settle := z.idle / 4
	time.Sleep(settle) // what is done behind a reader is not idleness
	cpu, switches := map[string]float64{}, map[string]float64{}
	for _, p := range sites {
		cpu[p.name], switches[p.name] = -cpuClock(p.daemon()), -wakeUps(t, p.daemon())
	}
	begin := time.Now()
	time.Sleep(z.idle)
	took := time.Since(begin)
	for _, p := range sites {
		cpu[p.name] = (cpu[p.name] + cpuClock(p.daemon())) / float64(took)
		switches[p.name] = (switches[p.name] + wakeUps(t, p.daemon())) / took.Seconds()
	}
	tab.Rows = append(tab.Rows,
		row{Work: fmt.Sprintf("idle for %s, share of one processor", z.idle), Unit: "share", Figure: cpu},
		row{Work: "... wake-ups a second, all threads", Unit: "/s", Figure: switches})
	for id, v := range map[string]map[string]float64{"idle-cpu": cpu, "idle-wakeups": switches} {
		tab.reach(id, v[ctxfs])
		tab.floor(id, v[loopback])
		if was, ok := v[before]; ok {
			tab.was(id, was)
		}
	}
}

// benchDisk measures what a store takes beside the log: of a session that was only written, one commit a message, and of
// one whose packs were read and that was searched.
func benchDisk(t *testing.T, z sizes, tab *table) {
	serving := daemons(t, harness.Options{})
	defer stop(serving)
	written, used := map[string]float64{}, map[string]float64{}
	for _, p := range serving {
		inStore := func(name string) (beside float64) {
			s := p.mount.Session(t, harness.Self(), "bench", name)
			err := filepath.WalkDir(s.InStore(), func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || filepath.Base(path) == ctxabi.MessagesFile {
					return err
				}
				info, err := e.Info()
				if err == nil {
					beside += float64(info.Size())
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return beside
		}
		p.log(t, "empty")
		log := p.log(t, "written")
		p.run(t, "append", log, z.diskMessages)
		p.mount.Restart()
		if _, err := os.ReadFile(filepath.Join(filepath.Dir(log), ctxabi.LineDir, fmt.Sprint(z.diskMessages))); err != nil { // so that it has an index
			t.Fatal(err)
		}
		p.mount.Restart()
		written[p.name] = (inStore("written") - inStore("empty")) / float64(z.diskMessages)
		p.run(t, "read", filepath.Join(filepath.Dir(log), ctxabi.PackFile), 1, 128<<10)
		if _, err := os.ReadFile(filepath.Join(filepath.Dir(log), ctxabi.SearchDir, "retry")); err != nil {
			t.Fatal(err)
		}
		p.mount.Restart()
		used[p.name] = (inStore("written") - inStore("empty")) / float64(z.diskMessages)
	}
	tab.Rows = append(tab.Rows,
		row{Work: fmt.Sprintf("disk beside the log, a message, of %s with one commit each", thousands(z.diskMessages)), Unit: "bytes", Figure: written},
		row{Work: "... after a pack and a search", Unit: "bytes", Figure: used})
	tab.reach("disk", written[ctxfs])
	tab.floor("disk", 32)
	if v, ok := written[before]; ok {
		tab.was("disk", v)
	}
}
