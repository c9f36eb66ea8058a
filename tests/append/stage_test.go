package appendtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// limits of the contract, as abi.md states them.
const (
	maxRecord = 16 << 20
	maxStages = 1024
	maxStaged = 256 << 20
	request   = 1 << 20 // what one FUSE write carries at most
)

// sized is a record of exactly n bytes, newline not counted; its content tells its place.
func sized(n int) string {
	const head, tail = `{"role":"tool","tool_call_id":"c","content":"`, `"}`
	var b strings.Builder
	b.Grow(n + 1)
	b.WriteString(head)
	for n-b.Len()-len(tail) >= 9 {
		fmt.Fprintf(&b, "%08x ", b.Len())
	}
	b.WriteString(strings.Repeat("x", n-b.Len()-len(tail)))
	b.WriteString(tail + "\n")
	return b.String()
}

// loop writes all of data as a program does that minds short counts, and tells how far it came.
func loop(fd int, data string, chunk int) (n int, err error) {
	for n < len(data) {
		w, err := unix.Write(fd, []byte(data[n:min(n+chunk, len(data))]))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, err
		}
		n += w
	}
	return n, nil
}

func TestFlushAfterEachHalf(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	dupClose := func(t *testing.T, fd int) error {
		t.Helper()
		d, err := unix.Dup(fd)
		if err != nil {
			t.Fatal(err)
		}
		return unix.Close(d)
	}
	t.Run("incomplete: EINVAL, the stage stays", func(t *testing.T) {
		s := m.NewSession(t)
		fd := open(t, s, messages, appendFlags)
		harness.WantErrno(t, "first half", write(fd, rec1[:8]), 0)
		harness.WantErrno(t, "close of a copy", dupClose(t, fd), unix.EINVAL)
		harness.WantErrno(t, "close of another copy", dupClose(t, fd), unix.EINVAL)
		harness.WantErrno(t, "second half", write(fd, rec1[8:]), 0)
		harness.WantErrno(t, "close of a copy, nothing staged", dupClose(t, fd), 0)
		wantLog(t, s, messages, rec1)
	})
	t.Run("complete: committed, its newline swallowed", func(t *testing.T) {
		s := m.NewSession(t)
		fd := open(t, s, messages, appendFlags)
		body := strings.TrimSuffix(rec1, "\n")
		harness.WantErrno(t, "a record without newline", write(fd, body), 0)
		wantLog(t, s, messages, "")
		harness.WantErrno(t, "close of a copy", dupClose(t, fd), 0)
		wantLog(t, s, messages, rec1)
		for _, blank := range []string{" ", "\t ", "\n"} {
			harness.WantErrno(t, fmt.Sprintf("%q after it", blank), write(fd, blank), 0)
		}
		wantLog(t, s, messages, rec1)
		harness.WantErrno(t, "the next record", write(fd, rec2), 0)
		harness.WantErrno(t, "a second newline", write(fd, "\n"), unix.EINVAL)
		wantLog(t, s, messages, rec1+rec2)
	})
	t.Run("complete: committed, the next record follows its newline", func(t *testing.T) {
		s := m.NewSession(t)
		fd := open(t, s, messages, appendFlags)
		harness.WantErrno(t, "a record without newline", write(fd, strings.TrimSuffix(rec1, "\n")), 0)
		harness.WantErrno(t, "close of a copy", dupClose(t, fd), 0)
		harness.WantErrno(t, "newline and record", write(fd, " \n"+rec2), 0)
		wantLog(t, s, messages, rec1+rec2)
	})
	t.Run("complete: committed, the next record follows at once", func(t *testing.T) {
		s := m.NewSession(t)
		fd := open(t, s, messages, appendFlags)
		harness.WantErrno(t, "a record without newline", write(fd, strings.TrimSuffix(rec1, "\n")), 0)
		harness.WantErrno(t, "close of a copy", dupClose(t, fd), 0)
		harness.WantErrno(t, "record", write(fd, rec2), 0)
		harness.WantErrno(t, "blank line", write(fd, "\n"), unix.EINVAL)
		wantLog(t, s, messages, rec1+rec2)
	})
	t.Run("fsync commits nothing that is not whole", func(t *testing.T) {
		s := m.NewSession(t)
		fd := open(t, s, messages, appendFlags)
		harness.WantErrno(t, "fsync of nothing", unix.Fsync(fd), 0)
		harness.WantErrno(t, "half", write(fd, rec1[:8]), 0)
		harness.WantErrno(t, "fsync of what is on no disk", unix.Fsync(fd), unix.EINVAL)
		wantLog(t, s, messages, "")
		harness.WantErrno(t, "half", write(fd, rec1[8:]), 0)
		harness.WantErrno(t, "fsync", unix.Fsync(fd), 0)
		harness.WantErrno(t, "fdatasync", unix.Fdatasync(fd), 0)
		wantLog(t, s, messages, rec1)
	})
}

func TestReleaseOfAnIncompleteRecordIsReported(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	fd, err := unix.Open(s.Path(messages), appendFlags, 0)
	if err != nil {
		t.Fatal(err)
	}
	harness.WantErrno(t, "half a record", write(fd, rec1[:20]), 0)
	harness.WantErrno(t, "close", unix.Close(fd), unix.EINVAL)
	harness.Eventually(t, "a row about what was dropped", func() bool {
		for _, r := range s.Errors() {
			if strings.Contains(r.Reason, "20 bytes") || strings.Contains(r.Reason, "dropped") {
				return true
			}
		}
		return false
	})
	wantLog(t, s, messages, "")
}

func TestAKilledWriterLeavesNothingOfAHalfRecord(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Bash(`exec 3>>messages.jsonl; printf '{"role":"user",' >&3; kill -9 $$`)
	s.Append(messages, rec2)
	wantLog(t, s, messages, rec2)
	harness.Eventually(t, "a row about the half record", func() bool { return len(s.Errors()) > 0 })
}

func TestLargeRecords(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for _, size := range []int{100, 4095, 4096, 4097, 65536, 131072 + 1, request - 1} {
		t.Run(fmt.Sprintf("%d bytes in one write", size), func(t *testing.T) {
			t.Parallel()
			s := m.NewSession(t)
			rec := sized(size)
			harness.WantErrno(t, "write", write(open(t, s, messages, appendFlags), rec), 0)
			wantLog(t, s, messages, rec)
		})
	}
	for _, c := range []struct{ size, chunk int }{{request, request}, {3<<20 + 17, 100_003}, {3 << 20, 1 << 30}, {maxRecord, 1 << 20}, {maxRecord, 1 << 30}} {
		t.Run(fmt.Sprintf("%d bytes in writes of %d", c.size, c.chunk), func(t *testing.T) {
			t.Parallel()
			s := m.NewSession(t)
			s.Append(messages, rec1)
			rec := sized(c.size)
			if n, err := loop(open(t, s, messages, appendFlags), rec, c.chunk); err != nil {
				t.Fatalf("after %d bytes: %v", n, err)
			}
			wantLog(t, s, messages, rec1+rec)
		})
	}
	for _, chunk := range []int{1 << 20, 1 << 30} {
		t.Run(fmt.Sprintf("one byte too many in writes of %d", chunk), func(t *testing.T) {
			t.Parallel()
			s := m.NewSession(t)
			s.Append(messages, rec1)
			fd := open(t, s, messages, appendFlags)
			n, err := loop(fd, sized(maxRecord+1), chunk)
			harness.WantErrno(t, fmt.Sprintf("write after %d bytes", n), err, unix.EMSGSIZE)
			if n < maxRecord-request || n > maxRecord+1 {
				t.Errorf("refused after %d bytes", n)
			}
			wantLog(t, s, messages, rec1)
			wantRow(t, s, messages, unix.EMSGSIZE, "limit")
			harness.WantErrno(t, "a record after it", write(fd, rec2), 0)
			wantLog(t, s, messages, rec1+rec2)
		})
	}
	t.Run("a record of 16 MiB beside small ones of another writer", func(t *testing.T) {
		t.Parallel()
		s := m.NewSession(t)
		big, small := open(t, s, messages, appendFlags), open(t, s, messages, appendFlags)
		rec, want := sized(maxRecord), ""
		for off := 0; off < len(rec); off += request {
			harness.WantErrno(t, "a piece", write(big, rec[off:min(off+request, len(rec))]), 0)
			if off+request < len(rec) {
				harness.WantErrno(t, "a small one", write(small, rec1), 0)
				want += rec1
			}
		}
		wantLog(t, s, messages, want+rec)
	})
}

// The kernel cuts one write(2) into requests and hides the errno of all but the first.
func TestRefusalInsideAWriteThatTheKernelSplit(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	fd := open(t, s, messages, appendFlags)
	good := strings.Repeat(sized(1000), 1200)
	data := good + "nope\n" + rec3
	n, err := unix.Write(fd, []byte(data))
	if err != nil || n <= 0 || n >= len(data) {
		t.Fatalf("write of %d bytes gave %d, %v; want a short count", len(data), n, err)
	}
	if n > len(good) {
		t.Errorf("%d bytes taken, but the bad record begins at %d", n, len(good))
	}
	harness.WantErrno(t, "the rest of it", write(fd, data[n:]), unix.EINVAL)
	wantLog(t, s, messages, good)
	wantRow(t, s, messages, unix.EINVAL, "JSON")
	harness.WantErrno(t, "a good record", write(fd, rec2), 0)
	wantLog(t, s, messages, good+rec2)
}

func TestOneUserMayStage1024Handles(t *testing.T) {
	m := harness.Start(t, harness.Options{MaxFDs: 4096})
	s := m.NewSession(t)
	fds := make([]int, maxStages)
	for i := range fds {
		fds[i] = open(t, s, messages, appendFlags)
		if err := write(fds[i], rec1[:10]); err != nil {
			t.Fatalf("stage %d: %v", i+1, err)
		}
	}
	last := open(t, s, messages, appendFlags)
	harness.WantErrno(t, "one stage more", write(last, rec1[:10]), unix.EDQUOT)
	wantRow(t, s, messages, unix.EDQUOT, "")
	harness.WantErrno(t, "a whole record needs no stage", write(last, rec2), 0)
	harness.WantErrno(t, "a stage that is there goes on", write(fds[0], rec1[10:]), 0)
	harness.WantErrno(t, "one has become free", write(last, rec1[:10]), 0)
	harness.WantErrno(t, "and is completed", write(last, rec1[10:]), 0)
	wantLog(t, s, messages, rec2+rec1+rec1)
}

func TestOneUserMayStage256MiB(t *testing.T) {
	m := harness.Start(t, harness.Options{MaxFDs: 4096})
	s := m.NewSession(t)
	rec, half := sized(maxRecord), sized(maxRecord+1)
	var fds []int
	for staged := 0; staged < maxStaged; staged += maxRecord {
		fd, err := unix.Open(s.Path(messages), appendFlags, 0)
		if err != nil {
			t.Fatal(err)
		}
		piece := half[:maxRecord]
		if fds = append(fds, fd); len(fds) == 1 {
			piece = rec[:maxRecord]
		}
		if n, err := loop(fd, piece, request); err != nil {
			t.Fatalf("with %d MiB staged: %v after %d bytes", staged>>20, err, n)
		}
	}
	last := open(t, s, messages, appendFlags)
	harness.WantErrno(t, "a byte more", write(last, "{"), unix.EDQUOT)
	wantRow(t, s, messages, unix.EDQUOT, "")
	if n := treeSize(m.Store); n < maxStaged {
		t.Errorf("large stages are not in the store: it has %d bytes", n)
	}
	harness.WantErrno(t, "the first one's newline", write(fds[0], "\n"), 0)
	harness.WantErrno(t, "a retry", write(last, "{"), 0)
	harness.WantErrno(t, "and its rest", write(last, rec1[1:]), 0)
	wantLog(t, s, messages, rec+rec1)
	harness.WantErrno(t, "close of what was completed", unix.Close(fds[0]), 0)
	for _, fd := range fds[1:] {
		harness.WantErrno(t, "close of a stage", unix.Close(fd), unix.EINVAL)
	}
	harness.Eventually(t, "the stages to be removed", func() bool { return treeSize(m.Store) < maxRecord+(1<<20) })
}

// treeSize is the size of all files below dir.
func treeSize(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if fi, err := d.Info(); err == nil {
				n += fi.Size()
			}
		}
		return nil
	})
	return n
}

func TestTimesOfALogAreTrue(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	var before, after unix.Stat_t
	if err := unix.Stat(s.Path(messages), &before); err != nil {
		t.Fatal(err)
	}
	// The store's disk keeps times to the kernel's tick, which is late on a busy machine.
	var start unix.Timespec
	harness.Eventually(t, "the clock of the disk to go on", func() bool {
		if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &start); err != nil {
			t.Fatal(err)
		}
		return start.Nano() > before.Mtim.Nano()
	})
	s.Append(messages, rec1)
	end := time.Now()
	if err := unix.Stat(s.Path(messages), &after); err != nil {
		t.Fatal(err)
	}
	mtime := time.Unix(after.Mtim.Unix())
	if after.Mtim.Nano() < start.Nano() || mtime.After(end) {
		t.Errorf("mtime %v, appended between %v and %v", mtime, time.Unix(start.Unix()), end)
	}
	if after.Mtim != after.Ctim || after.Mtim == before.Mtim {
		t.Errorf("times before %v %v, after %v %v", before.Mtim, before.Ctim, after.Mtim, after.Ctim)
	}
	if after.Blksize == 0 || after.Blocks == 0 {
		t.Errorf("blksize %d, blocks %d of a file with %d bytes", after.Blksize, after.Blocks, after.Size)
	}
}

func TestReadsEndAtTheCommittedLength(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append(messages, rec1)
	fd := open(t, s, messages, unix.O_RDONLY)
	w := open(t, s, messages, appendFlags)
	harness.WantErrno(t, "stage", write(w, rec2[:12]), 0)
	buf := make([]byte, 4096)
	if n, err := unix.Pread(fd, buf, 0); err != nil || string(buf[:n]) != rec1 {
		t.Errorf("read %q, %v", buf[:max(n, 0)], err)
	}
	for _, off := range []int64{end, end + 1, 1 << 40} {
		if n, err := unix.Pread(fd, buf, off); n != 0 || err != nil {
			t.Errorf("read at %d: %d, %v", off, n, err)
		}
	}
	harness.WantErrno(t, "commit", write(w, rec2[12:]), 0)
	if n, err := unix.Pread(fd, buf, end); err != nil || string(buf[:n]) != rec2 {
		t.Errorf("read %q, %v", buf[:max(n, 0)], err)
	}
}
