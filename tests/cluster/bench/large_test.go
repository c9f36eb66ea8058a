package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/cluster/rows"
	"github.com/ctxfs/ctxfs/cluster/tend"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// large has a mount that never saw a session of 1 GB, of which nearly all lies among the objects, show its end
// and a pack, beside the mount of the host that wrote it, which has all of it. CLUSTER_LARGE sets another size, in MB.
func (b *rig) large() {
	size := int64(20)
	if b.full {
		size = 1000
	}
	if n, err := strconv.ParseInt(os.Getenv("CLUSTER_LARGE"), 10, 64); err == nil {
		size = n
	}
	ref := ctxabi.Ref{UID: harness.Self(), Agent: "coder", Session: "large"}
	store := b.fill(ref, size*1e6)
	fresh := mounts.New(b.t, b.c, "c", harness.Options{})
	wrote := mounts.New(b.t, b.c, "h0", harness.Options{Store: store})
	mounts.Run(b.t, fresh, wrote)
	there, here := b.show(fresh, ref), b.show(wrote, ref)
	if !bytes.Equal(there.pack, here.pack) || !bytes.Equal(there.tail, here.tail) {
		b.t.Errorf("two hosts show other packs (%d and %d bytes) or ends (%d and %d bytes)", len(there.pack), len(here.pack), len(there.tail), len(here.tail))
	}
	what := fmt.Sprintf("a host that never saw a session of %d MB: ", size)
	for _, x := range []struct {
		what       string
		new, wrote time.Duration
		most       time.Duration
	}{
		{"`stat`", there.stat, here.stat, 200 * time.Millisecond},
		{"`tail -n 1` behind it", there.tailed, here.tailed, 200 * time.Millisecond},
		{"first pack behind that", there.first, here.first, time.Second},
		{"`stat`, `tail` and first pack", there.stat + there.tailed + there.first, here.stat + here.tailed + here.first, 0},
		{"second pack", there.second, here.second, 0},
	} {
		r := row{what: what + x.what, figure: ms(x.new), beside: "host that wrote it " + ms(x.wrote), ratio: fmt.Sprintf("%.1f ×", float64(x.new)/float64(x.wrote)), goal: "none", met: true}
		if x.most > 0 {
			r.goal, r.met = "≤ "+x.most.String(), x.new <= x.most
		}
		b.add(r)
	}
	b.add(row{
		what + "received from the servers until then (of that, parts)", fmt.Sprintf("%.1f MB (%.1f MB)", float64(there.received)/1e6, float64(there.parts)/1e6),
		fmt.Sprintf("host that wrote it %.1f MB", float64(here.received)/1e6), "", "≤ 60 MB", there.received <= 60e6,
	})
}

// shown is what a mount shows of a session, and what it takes.
type shown struct {
	stat, tailed, first, second time.Duration
	received, parts             int64 // bytes, from the start of the mount to the first pack
	tail, pack                  []byte
}

// show reads the end of a session and its pack on a mount on which nobody has looked at it.
func (b *rig) show(h *mounts.Host, ref ctxabi.Ref) (x shown) {
	b.t.Helper()
	dir := filepath.Join(h.Dir, ref.Path())
	log, pack := filepath.Join(dir, ctxabi.MessagesFile), filepath.Join(dir, "context", "pack.md")
	took := func(to *time.Duration, do func() error) {
		b.t.Helper()
		begin := time.Now()
		if err := do(); err != nil {
			b.t.Fatalf("%s: %v", h.Name, err)
		}
		*to = time.Since(begin)
	}
	var again []byte
	took(&x.stat, func() error { _, err := os.Stat(log); return err })
	took(&x.tailed, func() (err error) { x.tail, err = exec.Command("tail", "-n", "1", log).Output(); return err })
	took(&x.first, func() (err error) { x.pack, err = os.ReadFile(pack); return err })
	x.received, x.parts = status(b, h, "cluster_received_bytes"), status(b, h, "cluster_parts_fetched_bytes")
	took(&x.second, func() (err error) { again, err = os.ReadFile(pack); return err })
	if x.received < x.parts {
		b.t.Errorf("%s has received %d bytes, and %d of parts", h.Name, x.received, x.parts)
	}
	if len(x.pack) == 0 || !bytes.Equal(x.pack, again) || !bytes.HasSuffix(x.tail, []byte("\n")) {
		b.t.Errorf("%s shows packs of %d and %d bytes, and %q at the end", h.Name, len(x.pack), len(again), x.tail)
	}
	return x
}

// status returns a number of the status of a mount.
func status(b *rig, h *mounts.Host, key string) int64 {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.Dir, "status"))
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, key+"="); ok && err == nil {
			var n int64
			if n, err = strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
				return n
			}
		}
	}
	b.t.Fatalf("status has no number %s: %v\n%s", key, err, data)
	return 0
}

// fill has a host without a mount write a session of so many bytes, with a budget of 32,000 tokens, shares it in
// parts, and trims its journal. It returns the store of that host, "h0", which has ended.
func (b *rig) fill(ref ctxabi.Ref, size int64) (store string) {
	t := b.t
	d := b.host("h0")
	x := b.make(d, ref)
	if err := x.SetControl(ctxabi.BudgetFile, []byte("32000\n")); err != nil {
		t.Fatal(err)
	}
	packs, err := builder.NewBuilder(builder.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer packs.Close()
	maintenance := b.c.Open(t, "maintenance")
	keeper := tend.New(tend.Options{Engine: maintenance, Host: "maintenance", Dir: t.TempDir(), Handlers: rows.New(maintenance).Handlers(), ParkAfter: -1, CollectAfter: -1})
	tending, written := context.WithCancel(t.Context())
	var tends sync.WaitGroup
	tends.Go(func() { // as a maintainer does: servers need not have room for all of the journal
		for tending.Err() == nil {
			keeper.Round(tending) // a round that fails is done again
			select {
			case <-time.After(time.Second):
			case <-tending.Done():
			}
		}
	})
	stop := func() { written(); tends.Wait() }
	defer stop()
	begin := time.Now()
	var next atomic.Int64
	for k := range int64(4) { // as an agent does, so that what is remembered for packs is there
		b.converse(x, &next, size*(k+1)/4)
		if _, err := packs.Current(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	wrote := time.Since(begin)
	stop()
	b.trimmed(maintenance, keeper, x)
	t.Logf("%d records, %d bytes: written in %.1f s, trimmed after %.1f s", 2*next.Load(), x.Messages().Len(), wrote.Seconds(), time.Since(begin).Seconds())
	packs.Close()
	d.end()
	return d.dir
}

// converse has 48 writers append what a coding agent says and its tools answer, from the pair behind next on, until a
// log has so many bytes.
func (b *rig) converse(x *session.Session, next *atomic.Int64, size int64) {
	var all sync.WaitGroup
	for range 48 {
		all.Go(func() {
			for x.Messages().Len() < size && !b.t.Failed() {
				batch := log.Batch{Data: exchange(int(next.Add(1)) - 1), Writer: disk.Writer{UID: x.Ref().UID}}
				if _, err := x.Messages().Append(b.t.Context(), batch); err != nil {
					b.t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if b.t.Failed() {
		b.t.FailNow()
	}
}

var words = strings.Fields(`the a of to in and is that for it with on this as are be or by from an not retry refresh token config parse request
	response handler error timeout context client server cache index commit append journal reader writer buffer offset length boundary prefix budget
	session agent workspace branch merge rebase failing passes test suite expected actual panic goroutine mutex channel deadline cancel backoff
	auth/refresh.go config/load.go pkg/store/index.go internal/queue/worker.go cmd/serve/main.go README.md RetryMax parseConfig ErrTimeout 404 502`)

// exchange returns the i-th pair of records of a session: a call and its result of some KB, or a request and what is
// done about it. Writers side by side may place pairs in another order.
func exchange(i int) []byte {
	rnd := rand.New(rand.NewPCG(uint64(i), 7))
	text := func(size int) string {
		var t strings.Builder
		for t.Len() < size {
			t.WriteString(words[rnd.IntN(len(words))])
			if rnd.IntN(4) == 0 {
				fmt.Fprintf(&t, "_%x", rnd.IntN(1<<20))
			}
			t.WriteByte(" \n"[max(0, rnd.IntN(12)-10)])
		}
		return t.String()
	}
	type object = map[string]any
	pair := []object{{"role": "user", "content": fmt.Sprintf("Request %d: %s", i/8, text(300))}, {"role": "assistant", "content": "Done. " + text(700)}}
	if i%8 > 0 {
		id := fmt.Sprint("call_", i)
		arguments, _ := json.Marshal(object{"path": fmt.Sprintf("src/module%d/file%d.go", rnd.IntN(40), rnd.IntN(100)), "query": text(60)})
		pair = []object{
			{"role": "assistant", "content": text(200), "tool_calls": []object{{"id": id, "type": "function",
				"function": object{"name": []string{"read_file", "search", "run_tests"}[i%3], "arguments": string(arguments)}}}},
			{"role": "tool", "tool_call_id": id, "content": text(1000 + rnd.IntN(12_000))},
		}
	}
	var out []byte
	for _, m := range pair {
		data, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		out = append(append(out, data...), '\n')
	}
	return out
}

// trimmed waits until all of a session but its last records is in parts that a snapshot names, and its journal begins
// with that snapshot.
func (b *rig) trimmed(e *nats.Engine, keeper *tend.Tender, x *session.Session) {
	b.t.Helper()
	harness.Eventually(b.t, "the session is trimmed", func() bool {
		keeper.Round(b.t.Context()) // an error may be about a journal in which bare clients have put what is no entry
		list, err := e.Read(b.t.Context(), host.Subject(x), engine.Range{From: 1, Count: 1})
		if err != nil || len(list) == 0 {
			return false
		}
		first, err := journal.Peek(list[0])
		if err != nil {
			return false
		}
		saved, err := bulk.SavedIn(first)
		if err != nil {
			return false
		}
		snap, err := bulk.NewStore(e.Objects(), bulk.Owner(x.Ref())).Load(b.t.Context(), x.ID(), saved)
		return err == nil && snap.Logs[0].Base() > x.Messages().Len()-(tend.SnapshotBytes+tend.SnapshotBytes/8)
	})
}
