package memory

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestMemoryIsReleasedWhenNothingIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, released atomic.Int64
		now.Store(50 << 20)
		i := NewIdle()
		i.taken = now.Load
		i.release = func() { released.Add(1); now.Store(30 << 20) }
		done, ended := make(chan struct{}), make(chan struct{})
		go func() { defer close(ended); i.Run(done) }()
		want := func(n int64, when string) {
			t.Helper()
			if synctest.Wait(); released.Load() != n {
				t.Fatalf("%s: released %d times, want %d", when, released.Load(), n)
			}
		}
		for range 20 {
			time.Sleep(idleAfter / 2)
			i.Busy()
			want(0, "at work")
		}
		time.Sleep(2 * idleAfter)
		want(1, "idle")
		now.Store(100 << 20)
		time.Sleep(time.Hour)
		want(1, "idle all the time")
		i.Busy()
		time.Sleep(2 * idleAfter)
		want(2, "idle again")
		now.Add(idleLeast - 1)
		i.Busy()
		time.Sleep(2 * idleAfter)
		want(2, "little was taken")
		now.Add(1)
		i.Busy()
		time.Sleep(2 * idleAfter)
		want(3, "enough was taken")
		close(done)
		<-ended
	})
}

func TestIdleReleasesToTheSystem(t *testing.T) {
	i := NewIdle()
	before := i.taken()
	block := make([][]byte, 64)
	for k := range block {
		block[k] = make([]byte, 1<<20)
		for at := 0; at < 1<<20; at += 4096 {
			block[k][at] = 1
		}
	}
	if grown := i.taken() - before; grown < 32<<20 {
		t.Fatalf("64 MiB count as %d bytes", grown)
	}
	block = nil
	done, due := make(chan struct{}), make(chan time.Time)
	close(due)
	release := i.release
	i.release = func() { release(); close(done) }
	i.run(done, func() <-chan time.Time { return due })
	if kept := i.taken() - before; kept > 16<<20 {
		t.Errorf("%d bytes are still taken", kept)
	}
}
