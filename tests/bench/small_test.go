package bench

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func splitLines(s string) []string { return strings.Split(s, "\n") }

// each runs f in every place in turns, round after round, and gives the median of its figures.
func each(z sizes, sites []*site, f func(p *site, round int) float64) map[string]float64 {
	all := map[string][]float64{}
	for r := range z.rounds {
		for i := range sites {
			p := sites[(i+r)%len(sites)] // nobody is always first
			all[p.name] = append(all[p.name], f(p, r))
		}
	}
	m := map[string]float64{}
	for name, v := range all {
		m[name] = median(v)
	}
	return m
}

// benchSmall measures single operations on logs.
func benchSmall(t *testing.T, z sizes, tab *table) {
	sites := newSites(t)
	daemon := sites[3].mount.PID()
	for _, c := range []struct {
		work, op string
		n        int
		limit    float64
	}{
		{"append 1 KiB, open descriptor", "append", z.appends, 1.5},
		{"append 1 KiB + fsync", "fsync", z.syncs, 1.3},
		{"open, append 1 KiB, close", "open-append-close", z.opens, 1.3},
	} {
		stop := profile(t, daemon, c.op)
		figure := each(z, sites, func(p *site, r int) float64 {
			return median(p.run(t, c.op, p.log(t, fmt.Sprintf("%s-%d", c.op, r)), c.n))
		})
		stop()
		tab.ratio(c.work, figure, loopback, c.limit)
	}

	size := fmt.Sprintf("read a %d MiB log whole", z.logBytes>>20)
	for _, c := range []struct {
		how  string
		name string
		buf  int
	}{
		{"in one read(2)", "once", z.logBytes + 1},
		{"128 KiB a read(2), as cat does", "cat", 128 << 10},
	} {
		first := map[string][]float64{}
		stop := profile(t, daemon, "read-"+c.name)
		repeated := each(z, sites, func(p *site, r int) float64 {
			file := p.log(t, fmt.Sprintf("read-%s-%d", c.name, r))
			p.run(t, "fill", file, z.logBytes)
			ns := p.run(t, "read", file, 20, c.buf)
			first[p.name] = append(first[p.name], ns[0])
			return median(ns[1:])
		})
		stop()
		firstFigure := map[string]float64{}
		for name, v := range first {
			firstFigure[name] = median(v)
		}
		tab.ratio(size+" "+c.how+", first", firstFigure, native, 2)
		tab.ratio("... repeated", repeated, native, 2)
	}

	stop := profile(t, daemon, "writers")
	writers := each(z, sites, func(p *site, r int) float64 { return eightWriters(t, z, p, r) })
	stop()
	tab.ratio("8 writers on one log, a 1 KiB record", writers, loopback, 1/0.8)
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

// benchPacks measures reading a pack that has not changed against reading a file of its size.
func benchPacks(t *testing.T, z sizes, tab *table) {
	sites := newSites(t)
	m := sites[3].mount
	s := m.Session(t, harness.Self(), "bench", "unchanged")
	for i := range 400 {
		s.Append("messages.jsonl", string(turn(i)))
	}
	pack := s.Read("context/pack.md")
	stop := profile(t, m.PID(), "unchanged")
	figure := each(z, sites, func(p *site, r int) float64 {
		file := s.Path("context/pack.md")
		if p.name != ctxfs {
			file = filepath.Join(p.dir, "pack.md")
			if err := os.WriteFile(file, []byte(pack), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return median(p.run(t, "read", file, z.cats, 128<<10))
	})
	stop()
	tab.ratio(fmt.Sprintf("`cat pack.md`, nothing new, %d KB", len(pack)/1000), figure, loopback, 1.5)
}
