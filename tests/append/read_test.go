package appendtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Python makes the buffer of a file as large as st_blksize, also of one that is open for appending. What is in it
// is lost with the program.
func TestLogsAskForSmallBuffers(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	for _, file := range []string{messages, "events.jsonl"} {
		var st unix.Stat_t
		if err := unix.Stat(s.Path(file), &st); err != nil || st.Blksize != 4096 {
			t.Errorf("%s asks for buffers of %d bytes, %v; want 4096", file, st.Blksize, err)
		}
	}
}

// readSizes are sizes of reads that take different ways through the daemon, and those around them.
var readSizes = []int{1, 100, 4095, 4096, 16 << 10, 64<<10 - 1, 64 << 10, 128 << 10, 1<<20 - 1, 1 << 20, 3<<20 + 17, 9 << 20}

// grown is what a log has to hold: each of its bytes follows from its place.
type grown struct {
	mu    sync.Mutex
	bytes []byte
	ends  map[int]bool // of records
}

// add adds a record and returns it.
func (g *grown) add(i int) []byte {
	r := fmt.Appendf(nil, `{"role":"user","content":"%d %s"}`+"\n", i, strings.Repeat(string(rune('a'+i%26)), i*7919%3300))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes = append(g.bytes, r...)
	g.ends[len(g.bytes)] = true
	return r
}

// check returns an error if b is not the result of a read of size bytes at off.
func (g *grown) check(off, size int, b []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if off+len(b) > len(g.bytes) || !bytes.Equal(b, g.bytes[off:off+len(b)]) {
		return fmt.Errorf("a read of %d at %d has bytes that nobody wrote, NULs: %d", size, off, bytes.Count(b, []byte{0}))
	}
	if len(b) < size && !g.ends[off+len(b)] {
		return fmt.Errorf("a read of %d at %d ends at %d, inside a record", size, off, off+len(b))
	}
	return nil
}

func TestReadsOfAnySizeBesideAWriterAreWhole(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	g := &grown{ends: map[int]bool{0: true}}
	w := open(t, s, messages, appendFlags)
	for i := 0; len(g.bytes) < 10<<20; i++ {
		if err := write(w, string(g.add(i))); err != nil {
			t.Fatal(err)
		}
	}
	var stop atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; !stop.Load(); i++ {
			if err := write(w, string(g.add(i))); err != nil {
				t.Error(err)
				return
			}
		}
	})
	fd := open(t, s, messages, unix.O_RDONLY)
	buf := make([]byte, 9<<20)
	for i := range 600 {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			t.Fatal(err)
		}
		size := readSizes[i%len(readSizes)]
		off := max(0, int(st.Size)-i*6151%(size+4096)) // near the end, where the writer is
		if i%5 == 0 {
			off = i * 1048583 % int(st.Size)
		}
		n, err := unix.Pread(fd, buf[:size], int64(off))
		if err == nil {
			err = g.check(off, size, buf[:n])
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	stop.Store(true)
	writer.Wait()
}

// Somebody cuts the file in the store while the daemon serves it. Reads of the missing part fail; the daemon,
// which maps the file, lives on.
func TestALogThatWasCutInTheStoreIsAnError(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	record := `{"role":"user","content":"` + strings.Repeat("x", 4000) + `"}` + "\n"
	size := 0
	for ; size < 4<<20; size += 200 * len(record) {
		s.Append(messages, strings.Repeat(record, 200))
	}
	fd := open(t, s, messages, unix.O_RDONLY)
	buf := make([]byte, 9<<20)
	for range 2 {
		if n, err := unix.Pread(fd, buf, 0); err != nil || n != size {
			t.Fatalf("read %d bytes of %d, %v", n, size, err)
		}
	}
	const left = 2<<20 + 100 // within a page, which has NULs behind that
	if err := os.Truncate(s.InStore()+"/"+messages, left); err != nil {
		t.Fatal(err)
	}
	for _, n := range readSizes {
		if n, err := unix.Pread(fd, buf[:n], left-50); n > 50 || n < 0 && !errors.Is(err, unix.EIO) {
			t.Errorf("a read of what was cut off: %d bytes, %v", n, err)
		}
	}
	if n, err := unix.Pread(fd, buf[:1<<20], 1<<20); err != nil || n != 1<<20 || bytes.IndexByte(buf[:n], 0) >= 0 {
		t.Errorf("a read of what is left: %d bytes, %v", n, err)
	}
	if n, err := unix.Pread(fd, buf[:1<<20], left-1<<19); !errors.Is(err, unix.EIO) {
		t.Errorf("a read across the cut: %d bytes, %v; want EIO", n, err)
	}
	if rows := s.Errors(); len(rows) == 0 || rows[len(rows)-1].Path != messages || rows[len(rows)-1].Errno != "EIO" {
		t.Errorf("errors.jsonl: %+v; want a row that says why", rows)
	}
}
