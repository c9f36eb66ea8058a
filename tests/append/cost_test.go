package appendtest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// What a mount costs: system calls of the daemon for each append, the functions that start
// goroutines, and allocations of an append.
var (
	callsOfAppends = map[string]int{"read": 1, "writev": 1, "write": 2, "fstat": 2}
	creators       = []string{
		"github.com/ctxfs/ctxfs/fs.Mount", "github.com/ctxfs/ctxfs/gc.(*Collector).Start", "github.com/ctxfs/ctxfs/gc.(*Collector).Watch",
		"github.com/ctxfs/ctxfs/internal/daemon.WhenUnmounted", "github.com/ctxfs/ctxfs/internal/mounts.listen", "github.com/ctxfs/ctxfs/internal/mounts.serve",
		"github.com/ctxfs/ctxfs/run/runner.Start", "github.com/ctxfs/ctxfs/run/runner.startBroker", "github.com/ctxfs/ctxfs/pack/builder.(*Builder).Opened", "github.com/ctxfs/ctxfs/pack/builder.(*Builder).Watch",
		"github.com/ctxfs/ctxfs/session/log.(*Set).Start", "main.waitForEnd",
	}
	allocations = 0.0
)

// timing are system calls of Go's scheduler and memory: how many there are depends on the machine.
var timing = regexp.MustCompile(`^(futex|nanosleep|clock_nanosleep|epoll_\w+|rt_sig\w+|tgkill|getpid|gettid|sched_yield|madvise|mmap|munmap|mprotect|clone3?|sigaltstack|set_robust_list|rseq|exit|restart_syscall)$`)

func TestCostOfAnAppend(t *testing.T) {
	harness.Need(t, "strace")
	appends := func(s *harness.Session, times int) {
		f, err := os.OpenFile(s.Path(ctxabi.MessagesFile), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for range times {
			if _, err := f.WriteString(harness.Message("user", "hello")); err != nil {
				t.Fatal(err)
			}
		}
	}
	const times = 1000
	base := callsOf(t, 0, appends) // what a daemon does when it starts and ends
	got := callsOf(t, times, appends)
	shares := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		share := float64(got[name]-base[name]) / times
		if shares[name] = int(share + .5); shares[name] == 0 {
			delete(shares, name)
		}
		if !timing.MatchString(name) && share >= 1.05*float64(callsOfAppends[name])+.4 {
			t.Errorf("each append takes %.2f × %s, and took %d", share, name, callsOfAppends[name])
		}
	}
	t.Logf("each append: %v", shares)

	for _, by := range goroutines(t) {
		if (strings.HasPrefix(by, "main.") || strings.Contains(by, "ctxfs/")) && !slices.Contains(creators, by) {
			t.Errorf("%s makes goroutines", by)
		}
	}
	if n := allocationsOf(t); n > allocations {
		t.Errorf("an append makes %.0f allocations, and made %.0f", n, allocations)
	}
}

// callsOf returns the system calls of a daemon in which something is done so often.
func callsOf(t *testing.T, times int, do func(s *harness.Session, times int)) map[string]int {
	t.Helper()
	out := filepath.Join(t.TempDir(), "calls")
	m := harness.Start(t, harness.Options{Wrap: []string{"strace", "-f", "-c", "-U", "name,calls", "-o", out}})
	do(m.Session(t, harness.Self(), "coder", "local"), times)
	// strace writes what it has counted when the daemon has ended.
	for pid, cmdline := range harness.Processes("cmdline") {
		if bytes.HasPrefix(cmdline, []byte(harness.Binary(t)+"\x00mount")) && bytes.Contains(cmdline, []byte(m.Store)) {
			unix.Kill(pid, unix.SIGTERM)
		}
	}
	harness.Eventually(t, "strace to write", func() bool { fi, err := os.Stat(out); return err == nil && fi.Size() > 0 })
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	for line := range strings.Lines(string(data)) {
		var name string
		var n int
		if _, err := fmt.Sscan(line, &name, &n); err == nil && name != "total" {
			calls[name] = n
		}
	}
	return calls
}

// goroutines returns the functions that have made the goroutines of a daemon that has been used.
func goroutines(t *testing.T) []string {
	t.Helper()
	m := harness.Start(t, harness.Options{Env: []string{"GOTRACEBACK=all"}})
	s := m.Session(t, harness.Self(), "coder", "local")
	s.Append(ctxabi.MessagesFile, harness.Message("user", "hello"))
	s.Write(ctxabi.BudgetFile, "32000\n")
	s.Read(ctxabi.PackFile)
	unix.Kill(m.PID(), unix.SIGQUIT)
	made := regexp.MustCompile(`(?m)^created by (\S+) in goroutine`)
	harness.Eventually(t, "the stacks of all goroutines", func() bool {
		return strings.Contains(m.Log.String(), "rip ") || strings.Contains(m.Log.String(), "exit status")
	})
	var by []string
	for _, x := range made.FindAllStringSubmatch(m.Log.String(), -1) {
		by = append(by, x[1])
	}
	m.Kill()
	slices.Sort(by)
	by = slices.Compact(by)
	t.Logf("goroutines are made by %q", by)
	return by
}

// allocationsOf returns how many allocations an append to a local store makes.
func allocationsOf(t *testing.T) float64 {
	t.Helper()
	s, err := session.Open(t.TempDir(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	owner := disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
	x, err := s.Create(ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}, owner)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(harness.Message("user", "hello"))
	n := testing.AllocsPerRun(500, func() {
		if _, err := x.Messages().Append(t.Context(), log.Batch{Data: data}); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("an append makes %v allocations", n)
	return n
}
