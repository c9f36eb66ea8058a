package runner

import (
	"bytes"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// raw is the payload of a frame as it stands.
type raw []byte

func (r raw) appendTo(b []byte) []byte { return append(b, r...) }

func FuzzFrame(f *testing.F) {
	f.Add(frame(7, request{Path: []byte("/x"), Max: 5, Known: &identity{Dev: 1, Ino: 2, Size: -3, Mtime: 4, Ctime: 5}}))
	f.Add(frame(7, answer{Exists: true, Settled: true, Reason: "why", Failed: "so", Data: []byte("x")}))
	f.Add(frame(7, request{Kind: inputsBelow, Path: []byte("/x\x00**/*.go"), Max: 64}))
	f.Add(frame(7, request{Kind: identityOf, Path: []byte("/x")}))
	f.Add(frame(7, packet{outcome{Failed: "exit status 3", Stderr: []byte("\xff")}, []byte("data")}))
	f.Add([]byte{0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		id, payload, err := readFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		if again := frame(id, raw(payload)); !bytes.Equal(again, b[:len(again)]) {
			t.Errorf("%x comes back as %x", b, again)
		}
		if a, ok := parseAnswer(payload); ok {
			if again, ok := parseAnswer(a.appendTo(nil)); !ok || !reflect.DeepEqual(a, again) {
				t.Errorf("%+v comes back as %+v", a, again)
			}
		}
		var o, same outcome
		if data, err := parsePacket(payload, &o); err == nil {
			if again, err := parsePacket(packet{o, data}.appendTo(nil), &same); err != nil || !bytes.Equal(data, again) || !reflect.DeepEqual(o, same) {
				t.Errorf("%+v comes back as %+v, %v", o, same, err)
			}
		}
		if r, ok := parseRequest(payload); ok {
			if again, ok := parseRequest(r.appendTo(nil)); !ok || !reflect.DeepEqual(r, again) {
				t.Errorf("%+v comes back as %+v", r, again)
			}
		}
	})
}

// pair returns a client that has a broker and a reader of uid 1 made of nothing but sockets.
func pair(t *testing.T) (c *Client, l *link, broker, reader *net.UnixConn) {
	t.Helper()
	sockets := func(socketType int) (a, b *net.UnixConn) {
		fds, err := unix.Socketpair(unix.AF_UNIX, socketType|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = unixConn(os.NewFile(uintptr(fds[0]), "a")); err != nil {
			t.Fatal(err)
		}
		if b, err = unixConn(os.NewFile(uintptr(fds[1]), "b")); err != nil {
			t.Fatal(err)
		}
		return a, b
	}
	c = &Client{links: make(map[owner]*link), pauses: make(map[owner]pause), brokerProcess: &brokerProcess{}}
	c.files.init()
	c.control, broker = sockets(unix.SOCK_SEQPACKET)
	conn, reader := sockets(unix.SOCK_STREAM)
	t.Cleanup(func() {
		for _, x := range []*net.UnixConn{c.control, broker, conn, reader} {
			x.Close()
		}
		c.tasks.Wait()
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	l, why := c.linkFor(owner{1, 1}, time.Now())
	if why != "" {
		t.Fatal(why)
	}
	c.connect(l, conn)
	return c, l, broker, reader
}

func (c *Client) ask(path string) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.begin(fileKey{uid: 1, gid: 1, max: 100, path: path})
	c.send(owner{1, 1})
	return x
}

// A reader belongs to its user: what it says without being asked is its end.
func TestReaderThatAnswersForOthersIsCutOff(t *testing.T) {
	c, l, _, reader := pair(t)
	good, bad := c.ask("/good"), c.ask("/bad")
	reader.Write(frame(good.seq, answer{Exists: true, Data: []byte("x")}))
	<-good.done
	before := time.Now()
	reader.Write(frame(bad.seq+1000, answer{Exists: true, Data: []byte("y")}))
	<-bad.done
	c.mu.Lock()
	defer c.mu.Unlock()
	if string(good.result.data) != "x" || good.failed != "" || bad.failed != "the reader of this user ended" || !l.ended {
		t.Errorf("%+v, %+v", good, bad)
	}
	if _, why := c.linkFor(owner{1, 1}, before); why != "the reader of this user keeps ending" {
		t.Errorf("it may start again at once: %q", why)
	}
}

func TestAnswersThatMakeNoSenseFail(t *testing.T) {
	c, _, _, reader := pair(t)
	for _, a := range []answer{{Exists: true, Unchanged: true}, {Exists: true, Data: make([]byte, 101)}} {
		x := c.ask("/f")
		reader.Write(frame(x.seq, a))
		if <-x.done; x.failed != "the reader's answer makes no sense" {
			t.Errorf("%+v: %q", a, x.failed)
		}
	}
	x := c.ask("/f")
	reader.Write(frame(x.seq, raw("nonsense")))
	if <-x.done; x.failed != "the reader's answer makes no sense" {
		t.Errorf("nonsense: %q", x.failed)
	}
	x = c.ask("/f")
	reader.Write(frame(x.seq, answer{Exists: true, Reason: strings.Repeat("lies ", 1000)}))
	if <-x.done; x.result.reason != "not readable" {
		t.Errorf("a long reason: %.20q", x.result.reason)
	}
	x = c.ask("/f")
	reader.Write([]byte{255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0})
	if <-x.done; x.failed != "the reader of this user ended" {
		t.Errorf("a frame of 4 GB: %q", x.failed)
	}
}

func TestReadsBeyondTheSlotsWaitTheirTurn(t *testing.T) {
	c, l, _, reader := pair(t)
	var calls []*call
	for i := range 3 * slots {
		calls = append(calls, c.ask("/"+strconv.Itoa(i)))
	}
	c.mu.Lock()
	if len(l.pending) != slots || len(l.waiting) != 2*slots {
		t.Errorf("%d sent, %d waiting", len(l.pending), len(l.waiting))
	}
	c.mu.Unlock()
	for range calls {
		id, payload, err := readFrame(reader)
		req, ok := parseRequest(payload)
		if err != nil || !ok {
			t.Fatal(err)
		}
		reader.Write(frame(id, answer{Exists: true, Data: req.Path}))
	}
	for i, x := range calls {
		if <-x.done; string(x.result.data) != "/"+strconv.Itoa(i) {
			t.Errorf("%d: %+v", i, x)
		}
	}
}

func TestStuckReaderIsGivenUp(t *testing.T) {
	c, l, _, _ := pair(t)
	var calls []*call
	for i := range slots + 1 {
		calls = append(calls, c.ask("/"+strconv.Itoa(i)))
	}
	long := time.Now().Add(2 * stuckAfter)
	c.mu.Lock()
	calls[3].sent = long // one that moves is enough
	c.mu.Unlock()
	if c.sweep(long); l.ended {
		t.Fatal("given up while it works")
	}
	c.mu.Lock()
	calls[3].sent = calls[2].sent
	next, why := c.linkFor(owner{1, 1}, long)
	c.mu.Unlock()
	if !l.ended || why != "" || next == l || next == nil {
		t.Fatalf("still in use: %v, %q", l.ended, why)
	}
	for i, x := range calls { // the one that waited included
		if <-x.done; x.failed != reasonHangs {
			t.Errorf("%d: %q", i, x.failed)
		}
	}
}

func TestTooManyWaitingReadsAreRefused(t *testing.T) {
	c, l, _, _ := pair(t)
	for i := range slots + maxWaiting {
		if x := c.ask("/" + strconv.Itoa(i)); x.failed != "" {
			t.Fatalf("%d: %s", i, x.failed)
		}
	}
	if x := c.ask("/one more"); x.failed != "too many reads of this user are under way" || l.ended {
		t.Errorf("%q", x.failed)
	}
}

// A reader that is stopped takes nothing; asking it must not wait.
func TestReaderThatTakesNothingIsCutOff(t *testing.T) {
	c, l, _, _ := pair(t)
	for post(l.conn, make([]byte, 1<<16)) {
	}
	if x := c.ask("/f"); x.failed != "the reader of this user accepts no requests" || !l.ended {
		t.Errorf("%q", x.failed)
	}
}

func TestOneUserCannotUseUpAllReaders(t *testing.T) {
	b := &broker{readers: make(map[uint64]*child)}
	for i := range uint64(maxOfUser) {
		b.readers[i] = &child{uid: 1}
	}
	if why := b.refuses(order{UID: 1}); why != "too many readers of this user hang" {
		t.Errorf("%q", why)
	}
	if why := b.refuses(order{UID: 2}); why != "" {
		t.Errorf("another user: %q", why)
	}
	for i := range uint64(maxProcesses) {
		b.readers[i] = &child{uid: uint32(i)}
	}
	if why := b.refuses(order{UID: 5000}); why != "too many readers hang" {
		t.Errorf("in all: %q", why)
	}
}

func TestPausesGrowAndIdleReadersEnd(t *testing.T) {
	c, l, _, _ := pair(t)
	now := time.Now()
	c.mu.Lock()
	for want := firstPause; want < maxPause; want *= 2 {
		c.punish(l)
		if got := c.pauses[l.owner].length; got != want {
			t.Errorf("pause %v, want %v", got, want)
		}
	}
	if _, why := c.linkFor(owner{1, 1}, now); why != "" {
		t.Errorf("a reader that runs is not paused: %s", why)
	}
	c.pauses[owner{2, 2}], c.pauses[owner{3, 3}] = pause{firstPause, now.Add(firstPause)}, pause{firstPause, now.Add(-time.Hour)}
	if _, why := c.linkFor(owner{2, 2}, now); why != "the reader of this user keeps ending" {
		t.Errorf("within its pause: %q", why)
	}
	for uid, l := range map[uint32]*link{
		4: {used: now, born: now},
		5: {used: now.Add(-2 * idleAfter), born: now.Add(-2 * idleAfter)},
		6: {used: now, born: now.Add(-2 * oldAfter)},
		7: {used: now.Add(-2 * idleAfter), born: now, pending: map[uint64]*call{1: {sent: now}}},
	} {
		l.owner = owner{uid, uid}
		c.links[l.owner] = l
	}
	delete(c.links, owner{1, 1})
	c.mu.Unlock()
	if !c.sweep(now) {
		t.Error("nothing is left to sweep")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.links) != 2 || c.links[owner{4, 4}] == nil || c.links[owner{7, 7}] == nil {
		t.Errorf("left: %v", c.links)
	}
	if _, kept := c.pauses[owner{3, 3}]; kept {
		t.Error("a pause that is over is kept")
	}
	if !c.retireOne() || c.links[owner{4, 4}] != nil || c.retireOne() {
		t.Error("retireOne does not take exactly the idle one")
	}
}

// An idle daemon swept every ten seconds, for nothing.
func TestNothingIsSweptWhenNothingIsLeft(t *testing.T) {
	c := &Client{links: make(map[owner]*link), pauses: make(map[owner]pause), unswept: make(chan struct{}, 1)}
	now := time.Now()
	if c.sweep(now) {
		t.Error("something is left where there was nothing")
	}
	c.mu.Lock()
	c.punish(&link{owner: owner{1, 1}})
	c.mu.Unlock()
	select {
	case <-c.unswept:
	default:
		t.Error("a pause wakes nobody")
	}
	if !c.sweep(now) || c.sweep(now.Add(time.Hour)) {
		t.Error("a pause is swept until it is over, and no longer")
	}
}

func TestTableIsBounded(t *testing.T) {
	var table fileTable
	table.init()
	key := func(i int) fileKey { return fileKey{path: strconv.Itoa(i)} }
	busy := table.get(key(-1))
	busy.call = &call{}
	for i := range 2 * maxFiles {
		table.get(key(i))
	}
	if n := len(table.byKey); n > maxFiles {
		t.Errorf("%d files", n)
	}
	if table.byKey[key(-1)] != busy || table.byKey[key(0)] != nil || table.byKey[key(2*maxFiles-1)] == nil {
		t.Error("not the least recently used went")
	}
	for i := range 10 {
		f := table.get(key(i))
		table.keep(f, content{data: make([]byte, maxBytes/4)})
	}
	sum := 0
	for _, f := range table.byKey {
		sum += len(f.last.data)
	}
	if sum > maxBytes || sum != table.bytes {
		t.Errorf("%d bytes, counted %d", sum, table.bytes)
	}
}

func TestCredentialOfAnUnknownUser(t *testing.T) {
	c := credential(3_999_999_999, 77)
	if c.Uid != 3_999_999_999 || c.Gid != 77 || len(c.Groups) != 0 || c.NoSetGroups {
		t.Errorf("%+v", c)
	}
	if c := credential(0, 77); c.Gid != 0 || len(c.Groups) == 0 {
		t.Errorf("root: %+v; want the groups of the system's database", c)
	}
}
