package memory

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Limit is how much memory the Go runtime may take. The nil Limit bounds nothing. A Limit is safe for concurrent use.
type Limit struct {
	bytes int64

	// What the runtime does; tests replace it.
	held    func() int64 // bytes that are taken, with what was not collected yet
	collect func()

	mu        sync.Mutex
	reserved  int64 // guarded by mu
	spare     int64 // by Spare; guarded by mu
	caches    []Cache
	collected time.Time // when collect ran last; guarded by mu
	live      int64     // what was held then; guarded by mu
}

// Cache can drop what it holds before work is refused. Its methods wait for nothing, no lock either: who calls Reserve may have the
// lock that whoever has the cache's waits for. They do not call Reserve.
type Cache interface {
	Loosen()     // forget what is only kept to be quick, before it is looked how much is in use
	Size() int64 // bytes that LetGo frees, about
	LetGo()
}

// Numbers of limits.
const (
	leastBeside = 16 << 20               // of a group, for what is not the Go runtime's: the program, descriptors, kernel buffers
	mostBeside  = 256 << 20              // likewise
	forCache    = 8                      // a cache may have one part of so many
	pause       = 100 * time.Millisecond // between two collections that refusals ask for

	machineShare = 16               // a cache may hold one part of so many of the machine's available memory
	availableAge = 10 * time.Second // the longest time for which a reading of the available memory is used
)

// OfProcess returns the limit of this process and makes the runtime keep to it. It returns GOMEMLIMIT where the environment has
// it, and nil where that is "off". Else it returns the smallest limit of the control group and the groups around it, less what the process takes beside its heap; nil
// where nothing limits it.
func OfProcess() *Limit {
	if set := debug.SetMemoryLimit(-1); set != math.MaxInt64 {
		return New(set)
	}
	if os.Getenv("GOMEMLIMIT") != "" { // it is "off"
		return nil
	}
	group, err := memlimit.FromCgroup()
	if err != nil || group == 0 || group > math.MaxInt64 {
		return nil // no group, one without a limit, or one that cannot be seen
	}
	l := New(OfGroup(int64(group)))
	debug.SetMemoryLimit(l.bytes)
	return l
}

// OfGroup returns what the Go runtime may take of a control group's limit.
func OfGroup(group int64) int64 {
	return group - min(max(group/5, leastBeside), mostBeside, group/2)
}

// New returns a limit of so many bytes. It leaves the runtime as it is.
func New(bytes int64) *Limit { return &Limit{bytes: bytes, held: heap, collect: runtime.GC} }

// Bytes returns the limit; 0: none.
func (l *Limit) Bytes() int64 {
	if l == nil {
		return 0
	}
	return l.bytes
}

// Held returns how many bytes the Go runtime takes, garbage that was not collected yet included.
func (l *Limit) Held() int64 { return heap() }

// Share returns how much a cache may hold that may hold most where there is no limit.
func (l *Limit) Share(most int) int {
	if l == nil {
		return most
	}
	return int(min(int64(most), l.bytes/forCache))
}

// CacheBound returns the maximum size in bytes of a cache that grows with its use: an eighth of the
// limit. Without a limit, it returns a sixteenth of the machine's available memory, but at least
// least.
func (l *Limit) CacheBound(least int64) int64 {
	if l == nil {
		return max(least, machine.bytes(time.Now())/machineShare)
	}
	return l.bytes / forCache
}

// available caches the amount of memory that the machine can provide without swapping.
type available struct {
	read func() int64

	mu    sync.Mutex
	known int64     // guarded by mu
	until time.Time // guarded by mu
}

var machine = available{read: memAvailable}

// bytes returns the available memory in bytes. The value is at most availableAge old.
func (a *available) bytes(now time.Time) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.After(a.until) {
		a.known, a.until = a.read(), now.Add(availableAge)
	}
	return a.known
}

// memAvailable returns MemAvailable of /proc/meminfo in bytes, or 0 if it cannot read the file.
func memAvailable() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// Cache adds a cache.
func (l *Limit) Cache(c Cache) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.caches = append(l.caches, c)
}

// Reserve returns when there is room for need bytes, which are kept free until release. It returns ctxabi.ErrNoMemory if there
// is none; op and path are of that error. It collects garbage and empties caches, but it waits for nobody.
func (l *Limit) Reserve(op, path string, need int64) (release func(), err error) {
	return l.reserve(op, path, need, false)
}

// Spare is Reserve for work that nobody waits for. It is refused where what others reserved leaves no room, and keeps nothing
// free that somebody asks for by Reserve.
func (l *Limit) Spare(op, path string, need int64) (release func(), err error) {
	return l.reserve(op, path, need, true)
}

func (l *Limit) reserve(op, path string, need int64, spare bool) (release func(), err error) {
	if l == nil || need <= 0 {
		return func() {}, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	from, taken := &l.reserved, l.reserved
	if spare {
		from, taken = &l.spare, l.reserved+l.spare
	}
	if !l.fits(l.held()+taken, need) && !l.makeRoom(taken, need) {
		return nil, ctxabi.E(op, path, ctxabi.ErrNoMemory,
			"it needs about %d MiB of memory, and less is free of the %d MiB that ctxfs may use; raise the limit, or continue in a shorter session", need>>20+1, l.bytes>>20)
	}
	*from += need
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		*from -= need
	}), nil
}

// fits reports whether need bytes go beside what is taken, and something stays free: a heap that is full to its limit
// is collected all the time. That is a sixteenth for heavy work, and less for lighter work, which finds room when heavy work does not.
func (l *Limit) fits(taken, need int64) bool {
	return taken+need <= l.bytes-min(l.bytes/16, 8*need)
}

// makeRoom reports whether there is room beside what is reserved without garbage, or else without caches.
func (l *Limit) makeRoom(reserved, need int64) bool {
	if time.Since(l.collected) < pause && !l.fits(l.live+reserved-l.cached(), need) {
		return false // it was looked at a moment ago
	}
	for _, c := range l.caches {
		c.Loosen()
	}
	if l.sweep(); l.fits(l.live+reserved, need) {
		return true
	}
	if !l.fits(l.live+reserved-l.cached(), need) {
		return false
	}
	for _, c := range l.caches {
		c.LetGo()
	}
	l.sweep()
	return l.fits(l.live+reserved, need)
}

func (l *Limit) cached() (n int64) {
	for _, c := range l.caches {
		n += c.Size()
	}
	return n
}

func (l *Limit) sweep() {
	l.collect()
	l.collected, l.live = time.Now(), l.held()
}

// heap returns what counts towards the runtime's limit and cannot be used for anything else: objects, stacks, its own tables.
func heap() int64 {
	return taken() - sum("/memory/classes/heap/free:bytes", "/memory/classes/heap/unused:bytes")
}

// taken returns how much of the system's memory the runtime has.
func taken() int64 {
	return sum("/memory/classes/total:bytes") - sum("/memory/classes/heap/released:bytes")
}

// sum returns the sum of some of the runtime's metrics.
func sum(names ...string) (n int64) {
	s := make([]metrics.Sample, len(names))
	for i, name := range names {
		s[i].Name = name
	}
	metrics.Read(s)
	for _, v := range s {
		n += int64(v.Value.Uint64())
	}
	return n
}
