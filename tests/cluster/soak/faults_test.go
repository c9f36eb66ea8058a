package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// breaker breaks a fleet, one fault after the other.
type breaker struct {
	t      *testing.T
	f      *fleet
	m      *nats.Engine // of the maintenance user
	rnd    *rand.Rand
	counts map[string]int
}

func newBreaker(t *testing.T, f *fleet, seed uint64) *breaker {
	return &breaker{t: t, f: f, m: f.c.Open(t, "maintenance"), rnd: rand.New(rand.NewPCG(seed, 1)), counts: map[string]int{}}
}

// fault is one way to break something for a while.
type fault struct {
	name   string
	weight int
	do     func(b *breaker, wait func())
}

// faults are all of them. What one has broken is whole again when it returns, as far as it can be.
var faults = []fault{
	{"a mount is killed", 6, func(b *breaker, wait func()) {
		h := b.host()
		h.Kill()
		wait()
		h.Again(b.t)
	}},
	{"two mounts are killed", 1, func(b *breaker, wait func()) {
		i := b.rnd.IntN(len(b.f.hosts))
		x, y := b.f.hosts[i], b.f.hosts[(i+1)%len(b.f.hosts)]
		x.Kill()
		y.Kill()
		wait()
		x.Again(b.t)
		y.Again(b.t)
	}},
	{"a mount is stopped and goes on", 3, func(b *breaker, wait func()) {
		pid := b.host().PID()
		unix.Kill(pid, unix.SIGSTOP)
		wait()
		unix.Kill(pid, unix.SIGCONT)
	}},
	{"a host is cut off", 3, func(b *breaker, wait func()) {
		name := b.host().Name
		b.f.c.CutHost(b.t, name)
		wait()
		b.f.c.HealHost(b.t, name)
	}},
	{"a host hears nothing", 3, func(b *breaker, wait func()) {
		name := b.host().Name
		b.f.c.SilenceHost(b.t, name)
		wait()
		b.f.c.HealHost(b.t, name)
	}},
	{"a host reaches one server alone", 2, func(b *breaker, wait func()) {
		name, i := b.host().Name, b.rnd.IntN(3)
		b.f.c.SilenceHost(b.t, name, i, (i+1)%3)
		wait()
		b.f.c.HealHost(b.t, name)
	}},
	{"a server is killed", 3, func(b *breaker, wait func()) { b.kill(wait, b.rnd.IntN(3)) }},
	{"a leader is killed", 3, func(b *breaker, wait func()) { b.kill(wait, b.leader()) }},
	{"two servers are killed", 2, func(b *breaker, wait func()) {
		i := b.rnd.IntN(3)
		b.kill(wait, i, (i+1)%3)
	}},
	{"all servers are killed", 1, func(b *breaker, wait func()) { b.kill(wait, 0, 1, 2) }},
	{"a server is stopped and goes on", 2, func(b *breaker, wait func()) {
		i := b.leader()
		b.f.c.Pause(i)
		wait()
		b.f.c.Resume(i)
	}},
	{"a leader is isolated", 4, func(b *breaker, wait func()) {
		b.f.c.Isolate(b.leader())
		wait()
		b.f.c.Heal()
	}},
	{"a leader is isolated and a mount killed", 2, func(b *breaker, wait func()) {
		h := b.host()
		b.f.c.Isolate(b.leader())
		h.Kill()
		wait()
		b.f.c.Heal()
		h.Again(b.t)
	}},
	{"a link between servers is cut", 2, func(b *breaker, wait func()) {
		i := b.rnd.IntN(3)
		b.f.c.Cut(i, (i+1)%3)
		wait()
		b.f.c.Heal()
	}},
	{"a link between servers is silent", 2, func(b *breaker, wait func()) {
		i := b.rnd.IntN(3)
		b.f.c.Silence(i, (i+1)%3)
		wait()
		b.f.c.Heal()
	}},
	{"links between servers are slow", 1, func(b *breaker, wait func()) {
		b.f.c.Slow(200 * time.Millisecond)
		wait()
		b.f.c.Heal()
	}},
}

func (b *breaker) kill(wait func(), which ...int) {
	b.f.c.Kill(which...)
	wait()
	b.f.c.Restart(b.t, which...)
}

func (b *breaker) host() *machine { return b.f.hosts[b.rnd.IntN(len(b.f.hosts))] }

// leader returns the server that leads some shard, or any if none is known to.
func (b *breaker) leader() int {
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Second)
	defer cancel()
	if a, err := b.m.Attest(ctx, b.rnd.IntN(engine.Shards)); err == nil {
		for i := range 3 {
			if a.Leader == fmt.Sprint("n", i+1) {
				return i
			}
		}
	}
	return b.rnd.IntN(3)
}

// next returns a fault at random, as often as its weight says.
func (b *breaker) next() fault {
	all := 0
	for _, f := range faults {
		all += f.weight
	}
	n := b.rnd.IntN(all)
	for _, f := range faults {
		if n -= f.weight; n < 0 {
			return f
		}
	}
	panic("not reached")
}

// run breaks something for d and repairs it.
func (b *breaker) run(f fault, d time.Duration) {
	b.counts[f.name]++
	f.do(b, func() { pause(b.t.Context(), d) })
}

// until breaks things until a moment.
func (b *breaker) until(end time.Time, each func()) {
	for time.Now().Before(end) {
		d := time.Duration(500+b.rnd.IntN(9500)) * time.Millisecond
		if b.rnd.IntN(12) == 0 {
			d += time.Duration(b.rnd.IntN(40)) * time.Second
		}
		b.run(b.next(), d)
		pause(b.t.Context(), time.Duration(1+b.rnd.IntN(8))*time.Second)
		each()
	}
}

// named returns the fault with a name.
func named(t *testing.T, name string) fault {
	i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
	if i < 0 {
		t.Fatalf("there is no fault %q", name)
	}
	return faults[i]
}

// repair makes all whole that is still broken.
func (b *breaker) repair() {
	b.f.c.Heal()
	for i := range 3 {
		b.f.c.Resume(i)
		b.f.c.Restart(b.t, i)
	}
	for _, h := range b.f.hosts {
		b.f.c.HealHost(b.t, h.Name)
		if h.PID() == 0 {
			h.Again(b.t)
		}
	}
}
