package memory

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const mib = 1 << 20

// heapOf is a heap of which a part is garbage, and a cache.
type heapOf struct {
	live, garbage, cached, loose int64
	collections, emptied         int
}

func (h *heapOf) limit(bytes int64) *Limit {
	l := New(bytes)
	l.held = func() int64 { return h.live + h.garbage + h.cached + h.loose }
	l.collect = func() { h.garbage, h.collections = 0, h.collections+1 }
	l.Cache(h)
	return l
}

func (h *heapOf) Loosen()     { h.loose, h.garbage = 0, h.garbage+h.loose }
func (h *heapOf) Size() int64 { return h.cached }
func (h *heapOf) LetGo() {
	h.garbage, h.cached, h.emptied = h.garbage+h.cached, 0, h.emptied+1
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		heap                 heapOf
		need                 int64
		refused              bool
		collections, emptied int
	}{
		"there is room":                            {heapOf{live: 20 * mib}, 20 * mib, false, 0, 0},
		"there is room without garbage":            {heapOf{live: 20 * mib, garbage: 70 * mib}, 20 * mib, false, 1, 0},
		"there is room without what is only quick": {heapOf{live: 20 * mib, loose: 70 * mib}, 20 * mib, false, 1, 0},
		"there is room without caches":             {heapOf{live: 20 * mib, cached: 70 * mib}, 60 * mib, false, 2, 1},
		"there is none":                            {heapOf{live: 70 * mib}, 30 * mib, true, 1, 0},
		"caches would be emptied in vain":          {heapOf{live: 70 * mib, cached: 5 * mib}, 30 * mib, true, 1, 0},
		"heavy work leaves a sixteenth free":       {heapOf{live: 86 * mib}, 8 * mib, true, 1, 0},
		"light work fits in that":                  {heapOf{live: 90 * mib}, 512 << 10, false, 0, 0},
		"nothing is needed":                        {heapOf{live: 200 * mib}, 0, false, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.heap.limit(100 * mib)
			release, err := l.Reserve("pack", "context/pack.md", c.need)
			if errors.Is(err, ctxabi.ErrNoMemory) != c.refused || (err == nil) == c.refused {
				t.Errorf("%v, refused: %v", err, c.refused)
			}
			if err == nil {
				release()
			}
			if c.heap.collections != c.collections || c.heap.emptied != c.emptied {
				t.Errorf("%d collections, caches emptied %d times; want %d and %d", c.heap.collections, c.heap.emptied, c.collections, c.emptied)
			}
		})
	}
}

func TestWhatIsReservedIsNotGivenTwice(t *testing.T) {
	h := heapOf{live: 20 * mib}
	l := h.limit(100 * mib)
	release, err := l.Reserve("pack", "", 40*mib)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve("pack", "", 40*mib); !errors.Is(err, ctxabi.ErrNoMemory) {
		t.Errorf("given twice: %v", err)
	}
	release()
	release() // once is enough
	if release, err = l.Reserve("pack", "", 40*mib); err != nil {
		t.Errorf("not given back: %v", err)
	}
	if release(); l.reserved != 0 {
		t.Errorf("%d bytes stay reserved", l.reserved)
	}
}

// Whoever is refused and asks again at once must not keep the others from being served.
func TestRefusalsInALoopDoNotCollectEachTime(t *testing.T) {
	h := heapOf{live: 95 * mib}
	l := h.limit(100 * mib)
	for range 1000 {
		l.collected = max1(l.collected, time.Now())
		if _, err := l.Reserve("pack", "", 30*mib); err == nil {
			t.Fatal("not refused")
		}
	}
	if h.collections > 1 {
		t.Errorf("%d collections", h.collections)
	}
	if _, err := l.Reserve("pack", "", 256<<10); err != nil {
		t.Errorf("light work is refused: %v", err)
	}
}

// max1 keeps a time that was set up to date, so that the test does not depend on how long it takes.
func max1(was, now time.Time) time.Time {
	if was.IsZero() {
		return was
	}
	return now
}

func TestWorkThatNobodyWaitsForKeepsNoRoomFromOthers(t *testing.T) {
	h := heapOf{live: 20 * mib}
	l := h.limit(100 * mib)
	if _, err := l.Spare("search", "", 50*mib); err != nil {
		t.Fatal(err)
	}
	release, err := l.Reserve("pack", "", 50*mib)
	if err != nil {
		t.Errorf("refused: %v", err)
	}
	if _, err := l.Spare("search", "", 10*mib); !errors.Is(err, ctxabi.ErrNoMemory) {
		t.Errorf("given beside both: %v", err)
	}
	release()
	if _, err := l.Spare("search", "", 10*mib); err != nil {
		t.Errorf("not given: %v", err)
	}
}

func TestNoLimit(t *testing.T) {
	var l *Limit
	l.Cache(&heapOf{})
	release, err := l.Reserve("pack", "", math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if l.Bytes() != 0 || l.Share(7) != 7 {
		t.Errorf("limit %d, share %d", l.Bytes(), l.Share(7))
	}
	if l := New(80 * mib); l.Share(48*mib) != 10*mib || l.Share(mib) != mib {
		t.Errorf("shares %d, %d", l.Share(48*mib), l.Share(mib))
	}
}

func TestPartOfAGroup(t *testing.T) {
	for group, want := range map[int64]int64{16 * mib: 8 * mib, 64 * mib: 48 * mib, 128 * mib: 128*mib - 128*mib/5, 1 << 40: 1<<40 - 256*mib, 0: 0} {
		if got := OfGroup(group); got != want {
			t.Errorf("%d of a group of %d, want %d", got, group, want)
		}
	}
}

// GOMEMLIMIT of the environment is the limit, whatever the group says.
func TestTheEnvironmentsLimitWins(t *testing.T) {
	switch os.Getenv("CTXFS_TEST_LIMIT") {
	case "77MiB":
		l := OfProcess()
		if l.Bytes() != 77*mib || debug.SetMemoryLimit(-1) != 77*mib {
			t.Errorf("limit %d, of the runtime %d", l.Bytes(), debug.SetMemoryLimit(-1))
		}
		return
	case "off":
		l := OfProcess()
		if l != nil || debug.SetMemoryLimit(-1) != math.MaxInt64 {
			t.Errorf("limit %d, of the runtime %d", l.Bytes(), debug.SetMemoryLimit(-1))
		}
		return
	}
	for _, limit := range []string{"77MiB", "off"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTheEnvironmentsLimitWins$", "-test.v")
		cmd.Env = append(os.Environ(), "CTXFS_TEST_LIMIT="+limit, "GOMEMLIMIT="+limit)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%s: %v\n%s", limit, err, out)
		}
	}
}

func TestCacheBoundFollowsAvailableMemory(t *testing.T) {
	defer func(a func() int64) { machine.read, machine.until = a, time.Time{} }(machine.read)
	free := int64(16 << 30)
	machine.read, machine.until = func() int64 { return free }, time.Time{}
	var none *Limit
	if got := none.CacheBound(48 * mib); got != 1<<30 {
		t.Errorf("with 16 GiB free the bound is %d", got)
	}
	free = 0
	if got := none.CacheBound(48 * mib); got != 1<<30 {
		t.Errorf("the memory was read again at once: %d", got)
	}
	machine.until = time.Time{}
	if got := none.CacheBound(48 * mib); got != 48*mib {
		t.Errorf("without free memory the bound is %d", got)
	}
	if got := New(80 * mib).CacheBound(48 * mib); got != 10*mib {
		t.Errorf("with a limit of 80 MiB the bound is %d", got)
	}
	if n := memAvailable(); n < mib {
		t.Errorf("the machine has %d bytes available", n)
	}
}
