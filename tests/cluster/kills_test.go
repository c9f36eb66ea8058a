package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/history"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// TestAHostIsKilledAgainAndAgain kills a host while clients append to one session on it and on another one. The other
// one goes on each time, and all that was acknowledged is there once.
func TestAHostIsKilledAgainAndAgain(t *testing.T) {
	suite.Matrix(t, slow)
	kills := 10
	if suite.Soak() {
		kills = 200
	}
	hosts := mounts.Start(t, servers.Start(t), "a", "b")
	d := startDuel(t, hosts[0], hosts[1])
	for range kills {
		d.round(t, d.a.Kill)
	}
	d.end(t)
	t.Logf("%d kills; %v", kills, d)
}

// TestThePowerOfAHostIsCut cuts the power of a host, whose copies lie on a disk that loses what was not synced.
func TestThePowerOfAHostIsCut(t *testing.T) {
	suite.Matrix(t, slow)
	dir := t.TempDir()
	disk := servers.NewRack(t, dir).Disk(t, "a", filepath.Join(dir, "a"))
	cuts, gone := 3, 0
	if suite.Soak() {
		cuts = 30
	}
	c := servers.Start(t)
	a := mounts.New(t, c, "a", harness.Options{Store: filepath.Join(dir, "a", "store")})
	b := mounts.New(t, c, "b", harness.Options{})
	mounts.Run(t, a, b)
	d := startDuel(t, a, b)
	for range cuts {
		d.round(t, func() { gone += servers.CutPower(t, a.Kill, disk); d.life.Add(1) })
	}
	d.end(t)
	if t.Logf("%d cuts, of a file that was not synced %d lost the content; %v", cuts, gone, d); gone == 0 {
		t.Error("what was not synced has survived: this says nothing")
	}
}

// duel is clients on two hosts that append to one session, and one of the hosts falls again and again.
type duel struct {
	a, b *mounts.Host // a falls
	s    [2]*harness.Session
	h    *history.History
	log  *history.List
	stop chan struct{}
	all  sync.WaitGroup

	ids     atomic.Int64
	acked   [2]atomic.Int64 // writes on each host
	life    atomic.Int64    // of the host that falls: after a cut of its power it may show less for a moment
	longest atomic.Int64    // of the writes on b, in ns
	strange sync.Map        // errors of writes that no fall explains
}

// duelWriters is how many clients of each host append.
const duelWriters = 3

// startDuel has clients append until end.
func startDuel(t *testing.T, a, b *mounts.Host) *duel {
	t.Helper()
	d := &duel{a: a, b: b, h: history.New(), stop: make(chan struct{})}
	d.log = d.h.List(ctxabi.MessagesFile)
	d.s[0] = a.Session(t, harness.Self(), "coder", "s1")
	d.s[1] = b.Await(t, d.s[0])
	for i := range d.s {
		for range duelWriters {
			d.all.Go(func() { d.write(i) })
		}
		d.all.Go(func() { d.read(i) })
	}
	t.Cleanup(d.halt)
	return d
}

// halt ends the clients.
func (d *duel) halt() {
	select {
	case <-d.stop:
	default:
		close(d.stop)
	}
	d.all.Wait()
}

// goesOn waits for about a moment and reports whether the clients are to go on.
func (d *duel) goesOn(about time.Duration) bool {
	select {
	case <-d.stop:
		return false
	case <-time.After(time.Duration(rand.Int64N(int64(2 * about)))):
		return true
	}
}

// write appends to the session on a host until the end.
func (d *duel) write(i int) {
	for d.goesOn(5 * time.Millisecond) {
		d.append(i)
	}
}

// append appends one to three records with one write on a host, and reports whether that was acknowledged.
func (d *duel) append(i int) bool {
	f, err := os.OpenFile(d.s[i].Path(ctxabi.MessagesFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		d.failed(i, err)
		return false
	}
	defer f.Close()
	w := history.Write{ID: fmt.Sprint("w", d.ids.Add(1)), Parts: 1 + rand.IntN(3), Host: d.host(i)}
	var data strings.Builder
	for part := range w.Parts {
		data.WriteString(harness.Message("user", history.Key(w.ID, part)+" is a record"))
	}
	w.Began = d.h.Now()
	_, err = unix.Write(int(f.Fd()), []byte(data.String()))
	w.Ended = d.h.Now()
	switch {
	case err == nil:
		d.acked[i].Add(1)
		if took := int64(w.Ended - w.Began); i == 1 {
			for was := d.longest.Load(); took > was && !d.longest.CompareAndSwap(was, took); was = d.longest.Load() {
			}
		}
	case errors.Is(err, unix.ETIMEDOUT):
		w.Result = history.Refused
	default:
		w.Result = history.Unknown
	}
	d.log.Wrote(w)
	d.failed(i, err)
	return err == nil
}

// failed notes an error that the fall of a host does not explain.
func (d *duel) failed(i int, err error) {
	if i == 0 && (errors.Is(err, unix.ENOTCONN) || errors.Is(err, unix.ECONNABORTED) || errors.Is(err, unix.ENOENT)) {
		return // it does not run
	}
	if err != nil && !errors.Is(err, unix.EIO) && !errors.Is(err, unix.ETIMEDOUT) {
		d.strange.Store(fmt.Sprintf("%s: %v", d.host(i), err), true)
	}
}

// read looks at the session on a host until the end.
func (d *duel) read(i int) {
	for d.goesOn(200 * time.Millisecond) {
		look := history.Look{Host: d.host(i), Began: d.h.Now()}
		b, err := os.ReadFile(d.s[i].Path(ctxabi.MessagesFile))
		if look.Ended = d.h.Now(); err != nil {
			continue
		}
		for _, key := range keysOf(b) {
			look.Add(key)
		}
		d.log.Read(look)
	}
}

// keysOf returns the keys of records.
func keysOf(b []byte) (list []string) {
	for line := range bytes.Lines(b) {
		_, rest, _ := strings.Cut(string(line), `"content":"`)
		key, _, _ := strings.Cut(rest, " ")
		list = append(list, key)
	}
	return list
}

// host returns what a host is called in the history.
func (d *duel) host(i int) string {
	if i == 1 {
		return "b"
	}
	return fmt.Sprint("a", d.life.Load())
}

// round has a fall while clients append on it, waits until b has gone on, and starts a again.
func (d *duel) round(t *testing.T, fall func()) {
	t.Helper()
	d.progress(t, 0)
	time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond) // the random moment
	fall()
	d.progress(t, 1)
	d.a.Again(t)
	if t.Failed() {
		t.FailNow()
	}
}

// progress waits until each writer of a host, on the average, has had another write acknowledged.
func (d *duel) progress(t *testing.T, i int) {
	t.Helper()
	from := d.acked[i].Load()
	harness.Eventually(t, d.host(i)+" to append", func() bool { return d.acked[i].Load() >= from+duelWriters })
}

// end ends the clients and holds what both hosts have against each other, and against what clients saw.
func (d *duel) end(t *testing.T) {
	t.Helper()
	d.progress(t, 0)
	d.progress(t, 1)
	d.halt()
	for i := range d.s { // ends what is unknown
		harness.Eventually(t, "the last append", func() bool { return d.append(i) })
	}
	sameOnBoth(t, d.s[0], d.s[1])
	for i, s := range d.s {
		d.log.Final(d.host(i), keysOf([]byte(s.Read(ctxabi.MessagesFile))))
	}
	for _, p := range d.h.Check() {
		t.Error(p)
	}
	d.strange.Range(func(what, _ any) bool { t.Errorf("a write or an open returned %v", what); return true })
	for _, h := range []*mounts.Host{d.a, d.b} {
		h.Stop()
		if out, err := exec.Command(harness.Binary(t), "verify", "--store", h.Store).CombinedOutput(); err != nil {
			t.Errorf("the store of %s: %v\n%s", h.Name, err, out)
		}
	}
}

func (d *duel) String() string {
	n, _ := d.h.Counts()
	return fmt.Sprintf("%d records acknowledged, %d refused, %d unknown, %d looks; the longest append of the host that stays took %v",
		n.Stored, n.Refused, n.Unknown, n.Looks, time.Duration(d.longest.Load()).Round(time.Millisecond))
}
