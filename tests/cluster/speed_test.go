package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// TestSpeed prints how long an append takes beside a bare message of the client library with the same
// headers, in turns, and how fast entries are read. It judges nothing but that all of it happens.
func TestSpeed(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	e := c.Open(t, "a")
	o := c.Options(t, "b")
	bare, err := client.Connect(o.Servers[0], append(o.Auth, client.CustomInboxPrefix(nats.Inbox("b")))...)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	js, err := bare.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("load of the machine: %s", harness.Load())
	payload := make([]byte, 1024)
	rand.Read(payload)
	for _, writers := range []int{1, 8} {
		var mu sync.Mutex
		times := map[string][]time.Duration{}
		var wg sync.WaitGroup
		for range writers {
			a, b := enginetest.NewSession("u1000"), enginetest.NewSession("u1000")
			for b.Shard() != a.Shard() {
				b = enginetest.NewSession("u1000")
			}
			wg.Go(func() {
				var last [2]uint64
				for i := range 800 / writers {
					begin := time.Now()
					seq, err := enginetest.Append(t.Context(), e, a, last[0], rand.Text(), engine.Header{"Ctx-I": fmt.Sprint(i)}, payload)
					took := time.Since(begin)
					if err != nil {
						t.Error(err)
						return
					}
					last[0] = seq
					subject := fmt.Sprintf("ctx.v1.j.%02x.u1000.%s", b.Shard(), b.Session)
					begin = time.Now()
					ack, err := publish(js, subject, payload, last[1])
					tookBare := time.Since(begin)
					if err != nil {
						t.Error(err)
						return
					}
					last[1] = ack.Sequence
					mu.Lock()
					times["append"] = append(times["append"], took)
					times["bare"] = append(times["bare"], tookBare)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for _, what := range []string{"append", "bare"} {
			slices.Sort(times[what])
			at := func(p float64) time.Duration { return times[what][int(p*float64(len(times[what])-1))] }
			t.Logf("%d writers, 1 KiB, %-6s p50 %v  p99 %v", writers, what, at(.5).Round(10*time.Microsecond), at(.99).Round(10*time.Microsecond))
		}
	}
	speedOfReads(t, e, payload)
	speedOfFeeds(t, e, c.Open(t, "c"), payload)
}

// speedOfFeeds prints how long after its acknowledgement an entry is seen on another host, and how long it
// takes to follow many journals.
func speedOfFeeds(t *testing.T, writer, follower engine.Engine, payload []byte) {
	s, last := enginetest.NewSession("u1000"), uint64(0)
	feed, err := follower.Follow(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var behind []time.Duration
	for range 300 {
		seen := make(chan time.Time, 1)
		go func() { <-feed.Entries; seen <- time.Now() }()
		seq, err := enginetest.Append(t.Context(), writer, s, last, rand.Text(), nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		last = seq
		acked := time.Now()
		behind = append(behind, max(0, (<-seen).Sub(acked)))
	}
	slices.Sort(behind)
	t.Logf("seen on another host after the acknowledgement: p50 %v  p99 %v", behind[150].Round(10*time.Microsecond), behind[297].Round(10*time.Microsecond))
	const many = 2000
	begin := time.Now()
	work := make(chan engine.Subject)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for s := range work {
				if _, err := follower.Follow(t.Context(), s); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range many {
		work <- enginetest.NewSession("u1000")
	}
	close(work)
	wg.Wait()
	t.Logf("%d journals are followed after %v", many, time.Since(begin).Round(time.Millisecond))
}

// publish appends a bare message, again while the one before is under way, as Append of enginetest does.
func publish(js client.JetStreamContext, subject string, payload []byte, last uint64) (*client.PubAck, error) {
	for {
		m := &client.Msg{Subject: subject, Data: payload}
		ack, err := js.PublishMsg(m, client.MsgId(rand.Text()), client.ExpectLastSequencePerSubject(last))
		if failed, ok := errors.AsType[*client.APIError](err); !ok || failed.ErrorCode != 10164 {
			return ack, err
		}
	}
}

// speedOfReads prints how fast a journal is read, and how fast its end is known.
func speedOfReads(t *testing.T, e engine.Engine, payload []byte) {
	for _, size := range []int{1 << 10, 64 << 10} {
		s, last, n := enginetest.NewSession("u1000"), uint64(0), 500
		data := slices.Repeat(payload, size/len(payload))
		for range n {
			seq, err := enginetest.Append(t.Context(), e, s, last, rand.Text(), nil, data)
			if err != nil {
				t.Fatal(err)
			}
			last = seq
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		list, err := enginetest.ReadAll(ctx, e, s, 0)
		took := time.Since(begin)
		if err != nil || len(list) != n {
			t.Fatalf("%d entries, %v", len(list), err)
		}
		begin = time.Now()
		for range 100 {
			if _, err := e.Last(ctx, s, true); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("entries of %d KiB: %.0f MB/s; the leader names the end in %v", size>>10, float64(n*size)/1e6/took.Seconds(), (time.Since(begin) / 100).Round(10*time.Microsecond))
	}
}
