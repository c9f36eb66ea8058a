package memory

import (
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Idle returns memory to the system when a process has nothing to do. The runtime keeps as much free
// memory as the process uses, for the next work; a process that waits needs none of it. An Idle is
// safe for concurrent use.
type Idle struct {
	work  atomic.Uint64 // calls of Busy
	awake atomic.Bool
	wake  chan struct{}

	// What the runtime does; tests replace it.
	taken   func() int64 // bytes of the system's memory
	release func()
}

const (
	idleAfter = 5 * time.Second // without work a process is idle
	idleLeast = 8 << 20         // bytes by which it must have grown since the last release, at least
)

// NewIdle returns an Idle that is busy. Nothing is released until Run is called.
func NewIdle() *Idle {
	i := &Idle{wake: make(chan struct{}, 1), taken: taken, release: debug.FreeOSMemory}
	i.awake.Store(true)
	i.wake <- struct{}{}
	return i
}

// Busy notes that there is work. It costs two atomic operations.
func (i *Idle) Busy() {
	i.work.Add(1)
	if !i.awake.Load() && i.awake.CompareAndSwap(false, true) {
		i.wake <- struct{}{} // it has room: Run takes it out before it sets awake to false
	}
}

// Works returns how often Busy was called.
func (i *Idle) Works() uint64 { return i.work.Load() }

// Run releases memory each time nobody called Busy for 5 seconds, if the process has grown by 8 MiB and
// by a quarter since the last release: what is released has to be taken again by the work that follows.
// A process that is idle is not woken. Run returns when done is closed.
func (i *Idle) Run(done <-chan struct{}) {
	tick := time.NewTimer(0)
	defer tick.Stop()
	i.run(done, func() <-chan time.Time { tick.Reset(idleAfter); return tick.C })
}

// run is Run by a clock: after returns a channel that is ready when a process without work is idle.
func (i *Idle) run(done <-chan struct{}, after func() <-chan time.Time) {
	kept := int64(0) // what was taken after the last release
	for {
		select {
		case <-done:
			return
		case <-i.wake:
		}
		for before, busy := uint64(0), true; busy; busy = i.Works() != before {
			before = i.Works()
			select {
			case <-done:
				return
			case <-after():
			}
		}
		i.awake.Store(false)
		if i.taken() >= kept+max(idleLeast, kept/4) {
			i.release()
			kept = i.taken()
		}
	}
}
