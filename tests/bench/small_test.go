package bench

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func splitLines(s string) []string { return strings.Split(s, "\n") }

// sample runs f in every place in turns, round after round, and returns its figures.
func sample(z sizes, sites []*site, f func(p *site, round int) float64) samples {
	all := samples{}
	for r := range z.rounds {
		for i := range sites {
			p := sites[(i+r)%len(sites)] // nobody is always first
			all.add(p.name, f(p, r))
		}
	}
	return all
}

// each runs f in every place in turns, round after round, and returns the medians of its figures.
func each(z sizes, sites []*site, f func(p *site, round int) float64) map[string]float64 {
	return sample(z, sites, f).figures(50)
}

// benchSmall measures single operations on logs, with SQLite beside them where it does the same.
func benchSmall(t *testing.T, z sizes, tab *table) {
	sites := newSites(t)
	defer stop(sites)
	daemon := of(sites, ctxfs).daemon()
	processor := map[string]samples{}
	for _, c := range []struct {
		work, op, sync string
		n              int
		goal           string
		against        string
	}{
		{"append 1 KiB, open descriptor; SQLite WAL NORMAL", "append", "NORMAL", z.appends, "append-sqlite", mattn},
		{"append 1 KiB + fsync; SQLite WAL FULL", "fsync", "FULL", z.syncs, "fsync-sqlite", mattn},
		{"open, append 1 KiB, close", "open-append-close", "", z.opens, "", loopback},
	} {
		stop := profile(t, daemon, c.op)
		processor[c.op] = samples{}
		places := sites
		if c.sync != "" {
			places = append(places[:len(places):len(places)], sqliteSites(t, z, c.sync)...)
		}
		figure := sample(z, places, func(p *site, r int) float64 {
			file := p.log(t, fmt.Sprintf("%s-%d", c.op, r))
			var from float64
			if p.daemon() != 0 {
				from = cpuClock(p.daemon())
			}
			ns := median(p.run(t, c.op, file, c.n))
			if p.daemon() != 0 {
				processor[c.op].add(p.name, (cpuClock(p.daemon())-from)/float64(c.n))
			}
			return ns
		})
		stop()
		beside := tab.compare(c.work, "ns", figure, 50, loopback)
		if c.goal != "" && len(figure[mattn]) > 0 {
			tab.reachRatio(c.goal, tab.compare("... against SQLite", "ns", figure, 50, c.against))
		}
		switch c.op {
		case "append":
			tab.reachRatio("append-loopback", beside)
		case "open-append-close":
			tab.reachRatio("open-loopback", beside)
			tab.floor("open-loopback", 1)
		}
		spent := tab.compare("... the daemon's processor", "ns", processor[c.op], 50, loopback)
		if c.op == "append" {
			tab.reach("append-cpu", spent.Figure[ctxfs])
			tab.floor("append-cpu", spent.Figure[loopback])
			if v, ok := spent.Figure[before]; ok {
				tab.was("append-cpu", v)
			}
		}
		if c.goal != "" { // the floor: what the system asks for, without a line of ctxfs
			way := sample(z, []*site{of(sites, ctxfs)}, func(p *site, r int) float64 {
				return median(p.run(t, "ask", p.log(t, fmt.Sprintf("%s-%d", c.op, r)), c.n))
			}).figures(50)[ctxfs]
			least := way + 2*beside.Figure[native]
			if c.op == "fsync" {
				least = 2*way + beside.Figure[native]
			}
			tab.absolute("... its floor", "ns", least, 0)
			if base := median(figure[c.against]); base > 0 {
				tab.floor(c.goal, least/base)
			}
			if c.op == "append" {
				tab.floor("append-loopback", least/beside.Figure[loopback])
			}
		}
	}
	benchReads(t, z, tab, sites)

	stop := profile(t, daemon, "writers")
	writers := sample(z, sites, func(p *site, r int) float64 { return eightWriters(t, z, p, r) })
	stop()
	tab.reachRatio("writers-loopback", tab.compare("8 writers on one log, a 1 KiB record", "ns", writers, 50, loopback))
	tab.floor("writers-loopback", 1)
}

// benchReads measures reading a log whole, as system calls and as the programs of a shell.
func benchReads(t *testing.T, z sizes, tab *table, sites []*site) {
	size := fmt.Sprintf("a log of %d MiB", z.logBytes>>20)
	filled := func(p *site, name string) string {
		file := p.log(t, name)
		p.run(t, "fill", file, z.logBytes)
		return file
	}
	for _, c := range []struct {
		how, name string
		buf       int
	}{
		{"one read(2)", "once", z.logBytes + 1},
		{"128 KiB a read(2)", "128k", 128 << 10},
		{"16 KiB a read(2)", "16k", 16 << 10},
	} {
		first := samples{}
		stop := profile(t, of(sites, ctxfs).daemon(), "read-"+c.name)
		repeated := sample(z, sites, func(p *site, r int) float64 {
			ns := p.run(t, "read", filled(p, fmt.Sprintf("read-%s-%d", c.name, r)), 20, c.buf)
			first.add(p.name, ns[0])
			return median(ns[1:])
		})
		stop()
		tab.compare("read "+size+", "+c.how+", first", "ns", first, 50, native)
		r := tab.compare("... repeated", "ns", repeated, 50, native)
		if c.name != "16k" {
			tab.reachRatio("read-"+c.name, r)
			tab.floor("read-"+c.name, r.Figure[passthrough]/r.Figure[native])
		}
	}
	for _, argv := range [][]string{{"cat"}, {"wc"}, {"jq", "-c", ".role"}, {"grep", "-c", "retry"}, {"tail", "-n", "1"}} {
		harness.Need(t, argv[0])
		name := strings.Join(argv, " ")
		repeated := sample(z, sites, func(p *site, r int) float64 {
			n := z.programs
			if argv[0] == "jq" {
				n = max(1, n/5)
			}
			return median(p.run(t, "program", filled(p, fmt.Sprintf("program-%s-%d", argv[0], r)), n, name))
		})
		r := tab.compare(fmt.Sprintf("`%s` of %s, the whole program", name, size), "ns", repeated, 50, native)
		if argv[0] == "cat" {
			tab.reachRatio("read-cat", r)
			tab.floor("read-cat", r.Figure[passthrough]/r.Figure[native])
		}
	}
}

// eightWriters returns the time a record takes when eight processes append to one log.
func eightWriters(t *testing.T, z sizes, p *site, round int) float64 {
	t.Helper()
	const n = 8
	file := p.log(t, fmt.Sprintf("writers-%d", round))
	var outputs []*bufio.Reader
	var start []func()
	var wait []func()
	for range n {
		cmd := p.command(t, "writer", file, z.writer)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		o := bufio.NewReader(stdout)
		if s, err := o.ReadString('\n'); s != "ready\n" {
			t.Fatalf("a writer said %q, %v", s, err)
		}
		outputs = append(outputs, o)
		start = append(start, func() { in.Write([]byte("\n")) })
		wait = append(wait, func() {
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, f := range start {
		f()
	}
	var begin, end float64
	for i, o := range outputs {
		s, err := o.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		ns := parse(t, s)
		if begin == 0 || ns[0] < begin {
			begin = ns[0]
		}
		end = max(end, ns[1])
		wait[i]()
	}
	return (end - begin) / float64(n*z.writer)
}

// benchPacks measures reading a pack that has not changed, and one that was served before, against a file of its size.
func benchPacks(t *testing.T, z sizes, tab *table) {
	sites := newSites(t)
	defer stop(sites)
	unchanged, served := map[string]string{}, map[string]string{}
	var pack string
	for i := range sites {
		p := sites[len(sites)-1-i] // ctxfs first: the others have what it makes
		file := filepath.Join(p.dir, "pack.md")
		if p.ours() {
			s := p.mount.Session(t, harness.Self(), "bench", "unchanged")
			for i := range 400 {
				s.Append(ctxabi.MessagesFile, string(turn(i)))
			}
			file = s.Path(ctxabi.PackFile)
			text := s.Read(ctxabi.PackFile)
			if p.name == ctxfs {
				pack = text
			}
			s.Append(ctxabi.MessagesFile, string(turn(400)))
			s.Read(ctxabi.PackFile)
			names, err := filepath.Glob(s.Path("context/served/*.md"))
			if err != nil || len(names) == 0 {
				t.Fatalf("no served packs: %v", err)
			}
			served[p.name] = names[0]
		} else if err := os.WriteFile(file, []byte(pack), 0o600); err != nil {
			t.Fatal(err)
		} else {
			served[p.name] = file
		}
		unchanged[p.name] = file
	}
	stop := profile(t, of(sites, ctxfs).daemon(), "unchanged")
	read := func(how string, files map[string]string) samples {
		return sample(z, sites, func(p *site, r int) float64 { return median(p.run(t, how, files[p.name], z.cats, 128<<10)) })
	}
	figure := read("read", unchanged)
	tab.reachRatio("unchanged-loopback", tab.compare(fmt.Sprintf("`cat pack.md`, nothing new, %d KB", len(pack)/1000), "ns", figure, 50, loopback))
	tab.floor("unchanged-loopback", 1)
	r := tab.compare("... against native", "ns", figure, 50, native)
	tab.reachRatio("pack-native", r)
	tab.floor("pack-native", r.Figure[passthrough]/r.Figure[native])
	r = tab.compare("`cat` of a pack in served/", "ns", read("read", served), 50, native)
	tab.reachRatio("served-native", r)
	tab.floor("served-native", r.Figure[passthrough]/r.Figure[native])
	for _, f := range []struct {
		goal, work string
		files      map[string]string
	}{
		{"pack-open", "... `pack.md`, its file open already", unchanged},
		{"served-open", "... a pack in served/, its file open already", served},
	} {
		r = tab.compare(f.work, "ns", read("reread", f.files), 50, native)
		tab.reachRatio(f.goal, r)
		tab.floor(f.goal, r.Figure[passthrough]/r.Figure[native])
	}
	stop()
}
