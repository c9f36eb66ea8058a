package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/node"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

const eachHost = 4 // writers of one session on each of two hosts

// contest has four writers on each of two hosts write for some seconds, and returns how many writes each host did
// and how long they took.
func (b *rig) contest(write func(w, i int) error) (counts [2]int64, times spread) {
	span := b.span()
	var mu sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(span)
	for w := range 2 * eachHost {
		all.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				begin := time.Now()
				if err := write(w, i); err != nil {
					b.t.Error(err)
					return
				}
				took := time.Since(begin)
				atomic.AddInt64(&counts[w/eachHost], 1)
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return counts, times
}

// span is how long writers of two hosts write.
func (b *rig) span() time.Duration {
	if b.full {
		return 8 * time.Second
	}
	return time.Second
}

// twoHosts has two hosts append to one session: by what their mounts ask, through the mounts, and with as many
// writers that only compare and set.
func (b *rig) twoHosts() {
	x, y := b.host("h1"), b.host("h2")
	ref := ctxabi.Ref{UID: uint32(os.Getuid()), Agent: "coder", Session: "contested"}
	there := []*session.Session{b.make(x, ref), b.enter(y, ref)}
	plain, apart := b.contest(func(w, i int) error {
		_, err := there[w/eachHost].Messages().Append(b.t.Context(), log.Batch{Data: record(i)})
		return err
	})

	here, other, s := b.session()
	files := append(b.open(here, eachHost), b.open(other, eachHost)...)
	mounted, times := b.contest(func(w, i int) error { _, err := files[w].Write(record(i)); return err })

	bare := enginetest.NewSession("u1000")
	for bare.Shard() != s.Shard() {
		bare = enginetest.NewSession("u1000")
	}
	var writers []*enginetest.Writer
	for h := range 2 {
		e := b.c.Open(b.t, fmt.Sprint("h", 3*h)) // h0 and h3
		for w := range eachHost {
			writers = append(writers, enginetest.NewWriter(e, bare, fmt.Sprint("occ-", h, "-", w)))
		}
	}
	occ, _ := b.contest(func(w, i int) error { return writers[w].Append(b.t.Context(), rand.Text()) })

	pure := float64(occ[0]+occ[1]) / b.span().Seconds()
	beside := fmt.Sprintf("compare and set alone %.0f/s (%d : %d)", pure, occ[0], occ[1])
	for _, c := range []struct {
		where  string
		counts [2]int64
		times  spread
	}{{"without mounts", plain, apart}, {"through mounts", mounted, times}} {
		all := float64(c.counts[0]+c.counts[1]) / b.span().Seconds()
		share := 100 * float64(min(c.counts[0], c.counts[1])) / float64(max(1, c.counts[0]+c.counts[1]))
		p50, p99 := c.times.at(.5), c.times.at(.99)
		b.add(row{
			"2 hosts × 4 writers, one session, " + c.where, fmt.Sprintf("%.0f/s (%d : %d)", all, c.counts[0], c.counts[1]), beside,
			fmt.Sprintf("%.1f ×", all/pure), "≥ 3 ×, each host ≥ 40 % of its share", all >= 3*pure && share >= 20,
		})
		b.add(row{"the same, p99 beside p50", ms(p99), ms(p50), fmt.Sprintf("%.1f ×", float64(p99)/float64(p50)), "≤ 5 ×", p99 <= 5*p50})
	}
}

// daemon is a host without a mount that other hosts can reach: all of a mount's daemon but the filesystem.
type daemon struct {
	n   *node.Node
	s   *session.Store
	dir string // of the store
	end func()
}

// host starts a daemon without a mount.
func (b *rig) host(name string) *daemon {
	b.t.Helper()
	n, err := node.Open(b.t.Context(), node.Options{Nats: b.c.Options(b.t, name), Freshness: time.Second})
	if err != nil {
		b.t.Fatal(err)
	}
	dir := b.t.TempDir()
	s, err := session.Open(dir, session.Options{Committer: n, Parts: n.Parts()})
	if err == nil {
		err = n.Attach(s)
	}
	if err != nil {
		n.Close()
		b.t.Fatal(err)
	}
	end := sync.OnceFunc(func() { n.Close(); s.Close() })
	b.t.Cleanup(end)
	return &daemon{n, s, dir, end}
}

// make makes a session on a daemon, and enter finds it on another one.
func (b *rig) make(d *daemon, ref ctxabi.Ref) *session.Session {
	b.t.Helper()
	err := d.n.Enter(b.t.Context(), ref)
	if err == nil {
		_, err = d.s.Create(ref, disk.Owner{UID: ref.UID, GID: uint32(os.Getgid()), Mode: 0o700})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return b.enter(d, ref)
}

func (b *rig) enter(d *daemon, ref ctxabi.Ref) *session.Session {
	b.t.Helper()
	err := d.n.Enter(b.t.Context(), ref)
	var x *session.Session
	if err == nil {
		x, err = d.s.Session(ref)
	}
	if err == nil {
		err = d.n.Fresh(context.Background(), x, 0)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}
