package soak

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/history"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// summary is what a run, or all runs of a directory, came to.
type summary struct {
	Runs     int            `json:"runs"`
	Seconds  float64        `json:"seconds"` // under faults
	Writes   int            `json:"writes"`
	Records  int            `json:"records"` // that were sent
	Stored   int            `json:"stored"`  // of them, acknowledged
	Refused  int            `json:"refused"`
	Unknown  int            `json:"unknown"`
	Settings int            `json:"settings"`
	Looks    int            `json:"looks"`
	Packs    int            `json:"packs"`
	Longest  float64        `json:"longest"` // write that was acknowledged, in seconds
	Errnos   map[string]int `json:"errnos"`
	Faults   map[string]int `json:"faults"`
	Tended   map[string]int `json:"tended"` // what the maintainer did meanwhile
	Problems []string       `json:"problems"`
	Count    int            `json:"problem_count"`
}

// TestSoak breaks a cluster under load for SOAK_DURATION, else for as long as four faults take.
func TestSoak(t *testing.T) {
	suite.Matrix(t, "three servers, three mounts, and elections of many seconds")
	duration, dir := time.Duration(0), t.TempDir()
	if s := os.Getenv("SOAK_DURATION"); s != "" {
		var err error
		if duration, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
		if d := os.Getenv("SOAK_DIR"); d != "" {
			dir = d
		}
	}
	run := filepath.Join(dir, "run-"+time.Now().UTC().Format("20060102T150405"))
	if err := os.MkdirAll(run, 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := history.Create(filepath.Join(run, "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	t.Logf("CTXFS_SEED=%d; the history is in %s; load of the machine: %s", suite.Seed(), run, loadavg())

	f := newFleet(t)
	l := newLoad(f, h, 2+int(duration/(15*time.Minute)))
	l.rate, l.rare = 60*time.Millisecond, 4*time.Second
	if duration > 0 {
		l.rate, l.rare = 1300*time.Millisecond, time.Minute
	}
	l.prepare(t)
	m := tendFleet(t, f, l.rare/8, l.rare/4)
	b := newBreaker(t, f, uint64(suite.Seed()))
	begin := time.Now()
	l.start(t.Context())
	l.goesOn(t)
	if duration > 0 {
		next := begin.Add(5 * time.Minute)
		b.until(begin.Add(duration), func() {
			if time.Now().After(next) {
				next = next.Add(5 * time.Minute)
				lists, _ := h.Counts()
				t.Logf("%v: %d records sent, %d acknowledged, %d refused, %d unknown; load %s", time.Since(begin).Round(time.Second), lists.Records, lists.Stored, lists.Refused, lists.Unknown, loadavg())
			}
		})
	} else {
		for _, name := range []string{"a mount is killed", "a leader is isolated and a mount killed", "a host hears nothing", "a mount is stopped and goes on"} {
			b.run(named(t, name), 3*time.Second)
			l.goesOn(t)
		}
	}
	took := time.Since(begin)
	b.repair()
	l.goesOn(t)
	l.finish(t)
	tended := m.end()
	l.seal(t)
	l.hold(t)

	s := l.summary(b, took)
	s.Tended = tended
	for _, p := range h.Check() {
		s.Problems = append(s.Problems, p.String())
	}
	s.Problems = append(s.Problems, b.agree(l)...)
	s.Problems = append(s.Problems, f.verify(t)...)
	s.Count = len(s.Problems)
	s.keep(t, filepath.Join(run, "summary.json"))
	t.Log(s.String())
	for _, p := range s.Problems[:min(len(s.Problems), 50)] {
		t.Error(p)
	}
	if s.Stored == 0 {
		t.Error("nothing was stored")
	}
	if total := filepath.Join(dir, "totals.json"); duration > 0 {
		t.Log("All runs of " + dir + ": " + s.addTo(t, total).String())
	}
}

func loadavg() string {
	return fmt.Sprintf("%s, %d processors", harness.Load(), runtime.NumCPU())
}

// summary returns what a run came to so far.
func (l *load) summary(b *breaker, took time.Duration) *summary {
	lists, registers := l.h.Counts()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &summary{
		Runs: 1, Seconds: took.Seconds(), Writes: lists.Writes, Records: lists.Records, Stored: lists.Stored, Refused: lists.Refused,
		Unknown: lists.Unknown, Settings: registers.Writes, Looks: lists.Looks + registers.Looks, Packs: l.packs,
		Longest: time.Duration(l.longest.Load()).Seconds(), Errnos: l.errnos, Faults: b.counts,
	}
	for _, what := range slices.Sorted(maps.Keys(l.odd)) {
		s.Problems = append(s.Problems, fmt.Sprintf("%s (%d times)", what, l.odd[what]))
	}
	return s
}

// keep writes a summary to a file.
func (s *summary) keep(t *testing.T, name string) {
	t.Helper()
	b, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = os.WriteFile(name, append(b, '\n'), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// addTo adds a summary to that in a file, and returns the sum.
func (s *summary) addTo(t *testing.T, name string) *summary {
	t.Helper()
	all := &summary{}
	if b, err := os.ReadFile(name); err == nil {
		if err := json.Unmarshal(b, all); err != nil {
			t.Error(err)
		}
	}
	sum := func(to *map[string]int, from map[string]int) {
		if *to == nil {
			*to = map[string]int{}
		}
		for k, n := range from {
			(*to)[k] += n
		}
	}
	all.Runs, all.Seconds = all.Runs+1, all.Seconds+s.Seconds
	all.Writes, all.Records, all.Stored = all.Writes+s.Writes, all.Records+s.Records, all.Stored+s.Stored
	all.Refused, all.Unknown = all.Refused+s.Refused, all.Unknown+s.Unknown
	all.Settings, all.Looks, all.Packs = all.Settings+s.Settings, all.Looks+s.Looks, all.Packs+s.Packs
	all.Longest, all.Count = max(all.Longest, s.Longest), all.Count+s.Count
	sum(&all.Errnos, s.Errnos)
	sum(&all.Faults, s.Faults)
	sum(&all.Tended, s.Tended)
	all.keep(t, name)
	return all
}

// String returns a summary as people read it.
func (s *summary) String() string {
	var w strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	line("%d run(s), %v under faults", s.Runs, time.Duration(s.Seconds*float64(time.Second)).Round(time.Second))
	line("  records   %d sent in %d writes: %d acknowledged, %d refused, %d unknown", s.Records, s.Writes, s.Stored, s.Refused, s.Unknown)
	line("  settings  %d writes", s.Settings)
	line("  looks     %d at logs and settings, %d at packs", s.Looks, s.Packs)
	line("  longest   %.1f s for a write that was acknowledged", s.Longest)
	table := func(title string, m map[string]int) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			line("  %-8s  %d × %s", title, m[k], k)
			title = ""
		}
	}
	table("errors", s.Errnos)
	table("faults", s.Faults)
	table("tended", s.Tended)
	line("  problems  %d: lost, doubled, refused and there, torn, out of order, changed, different on hosts, or anything else", s.Count)
	return w.String()
}
