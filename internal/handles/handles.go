package handles

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// fewest is a limit below which nothing is shared out: there are always enough for one thing at a time.
const fewest = 64

// work is how many descriptors are never kept for clients, where the limit allows it: operations under way need them.
const work = 256

// waits is how often an open is tried again though nobody has given up a descriptor: those of operations under way are free soon.
const waits = 8

var limit = sync.OnceValue(func() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fewest
	}
	return int(min(l.Cur, 1<<20))
})

// Limit is how many descriptors the process may have open, 1,048,576 at most.
func Limit() int { return limit() }

// Idle is how many descriptors may stay open for no other reason than to be used again: half of the limit, 1,024 at most.
func Idle() int { idle, _ := Shares(Limit()); return idle }

// Keepable is how many descriptors clients may keep open.
func Keepable() int { _, keepable := Shares(Limit()); return keepable }

// Shares returns what Idle and Keepable are of a limit.
func Shares(limit int) (idle, keepable int) {
	return max(min(limit/2, 1024), fewest/2), max(limit-max(min(limit/4, work), fewest/2), 1)
}

var state struct {
	mu     sync.Mutex
	kept   int            // guarded by mu
	keptOf map[uint32]int // by uid; guarded by mu
	shed   map[*closer]struct{}
	giving sync.Mutex // held while descriptors are given up; nobody waits for it
}

type closer struct{ closeIdle func() (closed int) }

// shared reports whether the process serves several users, as a daemon of root does.
var shared = os.Geteuid() == 0

// Keep counts a descriptor that a client of user uid holds until it calls release. It returns
// [ErrShort] if clients hold all keepable descriptors, or if this user would hold more descriptors
// than remain for other users. A single user may therefore hold half of them. Root has the same
// limit.
func Keep(uid uint32) (release func(), err error) {
	state.mu.Lock()
	defer state.mu.Unlock()
	free := Keepable() - state.kept
	if free <= 0 {
		return nil, fmt.Errorf("%w: clients have %d", ErrShort, state.kept)
	}
	if own := state.keptOf[uid]; shared && own >= free && own > 0 {
		return nil, fmt.Errorf("%w: uid %d has %d, and %d are left for the other users", ErrShort, uid, own, free)
	}
	if state.keptOf == nil {
		state.keptOf = map[uint32]int{}
	}
	state.kept++
	state.keptOf[uid]++
	return sync.OnceFunc(func() {
		state.mu.Lock()
		defer state.mu.Unlock()
		state.kept--
		if state.keptOf[uid]--; state.keptOf[uid] == 0 {
			delete(state.keptOf, uid)
		}
	}), nil
}

// ErrShort is that the process has as many descriptors open as it may.
var ErrShort = errors.New("too many open files")

// IsShort reports whether err is that the process, or the system, has as many descriptors open as it may. The kernel's two errors have
// no portable name; they are told by their text, which begins like that of [ErrShort].
func IsShort(err error) bool {
	for err != nil {
		next := errors.Unwrap(err)
		if next == nil {
			return strings.HasPrefix(err.Error(), ErrShort.Error())
		}
		err = next
	}
	return false
}

// OnShortage makes closeIdle one of those that [Open] calls when descriptors run out. It returns how many it closed, and must not wait
// for a lock: whoever opens something may have it. It is called by one goroutine at a time, until stop was called.
func OnShortage(closeIdle func() (closed int)) (stop func()) {
	c := &closer{closeIdle}
	state.mu.Lock()
	defer state.mu.Unlock()
	if state.shed == nil {
		state.shed = map[*closer]struct{}{}
	}
	state.shed[c] = struct{}{}
	return func() {
		state.mu.Lock()
		defer state.mu.Unlock()
		delete(state.shed, c)
	}
}

// Open calls open. As long as that fails because descriptors ran out, it makes others close what they do not use and calls open again; when
// there is nothing to close it waits a moment, and after a quarter of a second in all it returns the error. open must be harmless to repeat.
func Open[T any](open func() (T, error)) (T, error) {
	v, err := open()
	for waited := 0; err != nil && IsShort(err); {
		if giveUp() == 0 {
			if waited == waits {
				break
			}
			time.Sleep(time.Millisecond << waited)
			waited++
		}
		v, err = open()
	}
	return v, err
}

// Do is [Open] for what gives nothing but an error.
func Do(do func() error) error {
	_, err := Open(func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// giveUp makes those who have idle descriptors close them. It returns 0 if somebody else is at it.
func giveUp() (closed int) {
	if !state.giving.TryLock() {
		return 0
	}
	defer state.giving.Unlock()
	state.mu.Lock()
	all := make([]*closer, 0, len(state.shed))
	for c := range state.shed {
		all = append(all, c)
	}
	state.mu.Unlock()
	for _, c := range all {
		closed += c.closeIdle()
	}
	return closed
}
