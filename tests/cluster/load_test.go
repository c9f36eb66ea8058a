package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// callTimeout is the time limit of one call while servers are broken.
const callTimeout = 5 * time.Second

// load is writers on several hosts that append until they are stopped: some to a journal of all, and each
// host to one of its own.
type load struct {
	c        *servers.Cluster
	journals []*journal
	stop     context.CancelFunc
	wg       sync.WaitGroup
	acked    atomic.Int64
	failed   atomic.Int64
	longest  atomic.Int64 // time of an append that was acknowledged, from the first try on
}

// journal is one of those to which writers append.
type journal struct {
	subject engine.Subject
	history enginetest.History
}

// startLoad starts writers on hosts.
func startLoad(t *testing.T, c *servers.Cluster, hosts ...string) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{c: c, stop: cancel}
	shared := &journal{subject: enginetest.NewSession("u1000")}
	l.journals = append(l.journals, shared)
	for _, h := range hosts {
		o := c.Options(t, h)
		o.Timeout = callTimeout
		e, err := nats.Open(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		own := &journal{subject: enginetest.NewSession("u1000")}
		l.journals = append(l.journals, own)
		for i, j := range []*journal{shared, shared, own} {
			name := fmt.Sprint(h, "-", i)
			l.wg.Go(func() { l.write(ctx, j, enginetest.NewWriter(e, j.subject, name), name) })
		}
	}
	t.Cleanup(func() { cancel(); l.wg.Wait() })
	return l
}

// write appends one record after the other. An append with an unknown result is tried again
// with the same key.
func (l *load) write(ctx context.Context, j *journal, w *enginetest.Writer, name string) {
	for i := 0; ctx.Err() == nil; i++ {
		key := fmt.Sprint(name, "/", i)
		begin := time.Now()
		if err := j.history.Do(ctx, w, key); err != nil {
			l.failed.Add(1)
			continue
		}
		l.acked.Add(1)
		if d := int64(time.Since(begin)); d > l.longest.Load() {
			l.longest.Store(d)
		}
	}
}

// await waits until so returns true. It fails the test after three minutes.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	end := time.Now().Add(3 * time.Minute)
	for !so() {
		if time.Now().After(end) {
			t.Fatalf("this does not come: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// progress waits until n more records are acknowledged from now on.
func (l *load) progress(t *testing.T, n int64) {
	t.Helper()
	from := l.acked.Load()
	await(t, fmt.Sprintf("%d records more than %d; %d calls failed", n, from, l.failed.Load()), func() bool { return l.acked.Load() >= from+n })
}

// failures waits until n more calls have failed.
func (l *load) failures(t *testing.T, n int64) {
	t.Helper()
	from := l.failed.Load()
	await(t, fmt.Sprintf("%d failures more than %d", n, from), func() bool { return l.failed.Load() >= from+n })
}

// reads is how often a journal is read at the end. Servers let any replica answer, at random.
const reads = 8

// check ends the load, waits until all replicas agree, and reads each journal several times.
func (l *load) check(t *testing.T) {
	t.Helper()
	l.stop()
	l.wg.Wait()
	agree(t, l.c)
	total := 0
	e := l.c.Open(t, "z")
	for i := range reads {
		for _, j := range l.journals {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			keys, err := enginetest.Journal(ctx, e, j.subject)
			cancel()
			if err != nil {
				t.Errorf("read %d: %v", i, err)
				continue
			}
			for _, wrong := range j.history.Check(keys) {
				t.Errorf("read %d: %s", i, wrong)
			}
			total += len(keys)
		}
	}
	stored, refused, unknown := 0, 0, 0
	for _, j := range l.journals {
		s, r, u := j.history.Counts()
		stored, refused, unknown = stored+s, refused+r, unknown+u
	}
	t.Logf("%d records acknowledged, %d refused, %d unknown, %d stored; the longest append took %v", stored, refused, unknown, total/reads, time.Duration(l.longest.Load()).Round(time.Millisecond))
	if stored == 0 {
		t.Error("nothing was stored")
	}
}

// agree waits until all replicas of all shards have the same.
func agree(t *testing.T, c *servers.Cluster) {
	t.Helper()
	m := c.Open(t, "maintenance")
	defer m.Close()
	for shard := range engine.OwnerShard + 1 {
		var a engine.Attestation
		var err error
		defer func() {
			if t.Failed() {
				t.Logf("shard %d: %+v, %v", shard, a, err)
			}
		}()
		await(t, fmt.Sprint("the replicas of shard ", shard, " agree"), func() bool {
			a, err = m.Attest(t.Context(), shard)
			return err == nil && a.Error() == nil && !slices.ContainsFunc(a.Replicas, func(r engine.Replica) bool { return r.Last != a.Replicas[0].Last })
		})
	}
}
