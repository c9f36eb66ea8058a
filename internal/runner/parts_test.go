package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"strconv"
	"testing"
	"time"
)

func FuzzFrame(f *testing.F) {
	f.Add(frame(7, request{UID: 1, Path: "/x"}))
	f.Add([]byte{0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		id, payload, err := readFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		if again := rawFrame(id, payload); !bytes.Equal(again, b[:len(again)]) {
			t.Errorf("%x comes back as %x", b, again)
		}
	})
}

// A reader belongs to its user: what it says without being asked ends it and reaches nobody.
func TestReaderThatAnswersForOthersIsCutOff(t *testing.T) {
	client, toClient := net.Pipe()
	hostile, toReader := net.Pipe()
	b := &broker{conn: toClient, readers: make(map[owner]*reader)}
	r := &reader{pending: map[uint64]time.Time{5: time.Now()}}
	forwarded := make(chan []byte)
	go func() {
		got, _ := io.ReadAll(client)
		forwarded <- got
	}()
	go func() {
		hostile.Write(frame(5, answer{Exists: true}))
		hostile.Write(frame(6, answer{Exists: true, Data: []byte("of another user")}))
	}()
	b.forward(r, toReader)
	toClient.Close()
	got := <-forwarded
	id, payload, err := readFrame(bytes.NewReader(got))
	var a answer
	if err != nil || id != 5 || json.Unmarshal(payload, &a) != nil || !a.Exists || len(got) != frameHead+len(payload) {
		t.Errorf("forwarded %q", got)
	}
	hostile.Close()
	toReader.Close()
	client.Close()
}

func TestStuckReaderIsGivenUp(t *testing.T) {
	now := time.Now()
	b := &broker{readers: make(map[owner]*reader), pauses: make(map[owner]pause), live: 2 * maxReaders}
	o := owner{1, 1}
	r := &reader{owner: o, in: make(chan []byte, slots), pending: make(map[uint64]time.Time)}
	b.readers[o] = r
	for i := range slots {
		if why := b.dispatch(uint64(i), request{UID: 1, GID: 1}, nil, now); why != "" {
			t.Fatalf("request %d: %s", i, why)
		}
	}
	if why := b.dispatch(99, request{UID: 1, GID: 1}, nil, now); why != "too many reads of this user are under way" {
		t.Errorf("one more: %q", why)
	}
	if b.dispatch(100, request{UID: 1, GID: 1}, nil, now.Add(2*stuckAfter)); !r.gone || b.readers[o] == r {
		t.Error("the stuck reader is still in use")
	}
}

func TestPausesGrowAndIdleReadersEnd(t *testing.T) {
	now := time.Now()
	b := &broker{readers: make(map[owner]*reader), pauses: map[owner]pause{{2, 2}: {firstPause, now.Add(firstPause)}, {3, 3}: {firstPause, now.Add(-time.Hour)}}}
	if why := b.dispatch(1, request{UID: 2, GID: 2}, nil, now); why != "the reader of this user keeps ending" {
		t.Errorf("within its pause: %q", why)
	}
	for uid, r := range map[uint32]*reader{
		4: {used: now, born: now},
		5: {used: now.Add(-2 * idleAfter), born: now.Add(-2 * idleAfter)},
		6: {used: now, born: now.Add(-2 * oldAfter)},
		7: {used: now.Add(-2 * idleAfter), born: now, pending: map[uint64]time.Time{1: now}},
	} {
		r.owner, r.in = owner{uid, uid}, make(chan []byte)
		b.readers[r.owner] = r
	}
	b.sweep(now)
	if len(b.readers) != 2 || b.readers[owner{4, 4}] == nil || b.readers[owner{7, 7}] == nil {
		t.Errorf("left: %v", b.readers)
	}
	if len(b.pauses) != 1 {
		t.Errorf("pauses: %v", b.pauses)
	}
	if !b.retireOne() || b.readers[owner{4, 4}] != nil || b.retireOne() {
		t.Error("retireOne does not take exactly the idle one")
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
