package session_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// talk returns records of about n bytes in all, as compressible as talk is.
func talk(n int, seed int64) string {
	rng := rand.New(rand.NewSource(seed))
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"role":"user","content":"%d %x %s"}`+"\n", i, rng.Uint64(), strings.Repeat("go test ./... ok ", rng.Intn(40)))
	}
	return b.String()
}

func appendTo(t testing.TB, l *log.Log, data string) {
	t.Helper()
	if _, err := l.Append(ctx, log.Batch{Data: []byte(data), Writer: root}); err != nil {
		t.Fatal(err)
	}
}

func seal(t testing.TB, l *log.Log) {
	t.Helper()
	if raw, packed, err := l.Seal(ctx); err != nil || raw == 0 || packed == 0 {
		t.Fatalf("seal: %d, %d, %v", raw, packed, err)
	}
}

// plain is the log as a person reads it without the program: the sealed parts inflated, then the tail.
func plain(t testing.TB, v vfs.FS, dir string) string {
	t.Helper()
	entries, err := v.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[int]string{}
	for _, e := range entries {
		if log, n, ok := archive.ParsePartName(e.Name()); ok && log == ctxabi.MessagesFile {
			parts[n] = e.Name()
		}
	}
	var all []byte
	for _, n := range slices.Sorted(maps.Keys(parts)) {
		all = append(all, inflate(t, get(t, v, path.Join(dir, parts[n])))...)
	}
	return string(append(all, get(t, v, path.Join(dir, ctxabi.MessagesFile))...))
}

func TestASealedLogIsTheSameLog(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	l := x.Messages()
	appendTo(t, l, a1+"\n")
	if raw, packed, err := l.Seal(ctx); raw != 0 || packed != 0 || err != nil {
		t.Fatalf("a log of one record was sealed: %d %d %v", raw, packed, err)
	}
	want := a1 + "\n"
	for i, n := range []int{200 << 10, 3 << 20, 70 << 10} {
		more := talk(n, int64(i))
		for len(more) > 0 { // several commits
			cut := strings.IndexByte(more[min(len(more)-1, n/3):], '\n') + min(len(more)-1, n/3) + 1
			appendTo(t, l, more[:cut])
			want, more = want+more[:cut], more[cut:]
		}
		head, _ := l.Head()
		at := l.ModTime()
		seal(t, l)
		if again, _ := l.Head(); again != head || l.Len() != int64(len(want)) || !l.ModTime().Equal(at) {
			t.Errorf("sealing changed head, length or time")
		}
		if got := content(t, l); got != want {
			t.Fatalf("after seal %d the log has other bytes", i+1)
		}
		if got := plain(t, d, x.Dir()); got != want {
			t.Fatalf("a person reads %d bytes, not %d", len(got), len(want))
		}
		appendTo(t, l, a2+"\n")
		want += a2 + "\n"
		verified(t, s, refA)
	}
	if a, err := l.Archived(); err != nil || a.Parts != 3 || a.Raw != int64(len(want)-len(a2)-1) || a.Packed >= a.Raw/2 {
		t.Errorf("archived: %+v %v", a, err)
	}
	ix, err := l.Index()
	if err != nil {
		t.Fatal(err)
	}
	at := l.ModTime()
	s.Close()
	d.Remove(path.Join(x.Dir(), session.IndexFile))
	s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	if x, err = s.Session(refA); err != nil || content(t, x.Messages()) != want || !x.Messages().ModTime().Equal(at) {
		t.Fatal("a reopened log has other bytes, or another time", err)
	}
	verified(t, s, refA)
	again, err := x.Messages().Index()
	if err != nil || again.Len() != ix.Len() {
		t.Fatal(again, err)
	}
	for line := 1; line <= ix.Len(); line++ {
		if ix.At(line) != again.At(line) {
			t.Fatalf("the index is rebuilt otherwise: line %d", line)
		}
	}
	if errs := string(x.Errors()); errs != "" {
		t.Errorf("reported %s", errs)
	}
	// Any range.
	rng := rand.New(rand.NewSource(1))
	for range 200 {
		off, n := rng.Intn(len(want)), rng.Intn(2<<20)
		b := make([]byte, n)
		got, _ := x.Messages().ReadAt(b, int64(off))
		if string(b[:got]) != want[off:min(len(want), off+n)] {
			t.Fatalf("%d bytes at %d are others", n, off)
		}
	}
}

func TestOtherToolsReadASealedPart(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	x := create(t, s, refA)
	want := talk(2<<20, 1)
	appendTo(t, x.Messages(), want)
	seal(t, x.Messages())
	appendTo(t, x.Messages(), a1+"\n")
	if all, err := archive.ReadPlain(filepath.Join(x.Dir(), ctxabi.MessagesFile)); err != nil || string(all) != want+a1+"\n" {
		t.Error("reading it without the store gives other bytes", err)
	}
	if all, err := archive.ReadPlain(filepath.Join(x.Dir(), ctxabi.EventsFile)); err != nil || len(all) > 0 {
		t.Error(all, err)
	}
	out := tool(t, "zstdcat", filepath.Join(x.Dir(), "messages.jsonl.1.zst"))
	if string(out) != want {
		t.Error("zstdcat gives other bytes")
	}
	if tail, _ := os.ReadFile(filepath.Join(x.Dir(), ctxabi.MessagesFile)); string(tail) != a1+"\n" {
		t.Errorf("the tail is %.80q", tail)
	}
	raw, err := os.ReadFile(filepath.Join(x.Dir(), "messages.jsonl.1.zst"))
	if err != nil {
		t.Fatal(err)
	}
	if got := seekTable(t, raw); !bytes.Equal(got, []byte(want)) {
		t.Error("the seek table does not lead to the records")
	}
}

// sweptDisk collects the garbage in tmp in front of every rename.
type sweptDisk struct {
	vfs.FS
	sweep func()
}

func (d *sweptDisk) Rename(from, to string) error {
	d.sweep()
	return d.FS.Rename(from, to)
}

func TestASweepOfTmpSparesWhatIsBeingSealed(t *testing.T) {
	d := &sweptDisk{FS: vfs.OS, sweep: func() {}}
	s := openStore(t, t.TempDir(), session.Options{VFS: d})
	x := create(t, s, refA)
	want := talk(200<<10, 1)
	appendTo(t, x.Messages(), want)
	if err := d.Chtimes(path.Join(x.Dir(), ctxabi.MessagesFile), time.Now().Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	swept := 0
	d.sweep = func() {
		swept++
		for _, k := range s.Unowned(time.Now().Add(-time.Hour)) {
			if err := s.RemoveUnowned(k.Name); err != nil {
				t.Error(err)
			}
		}
	}
	seal(t, x.Messages())
	if swept == 0 || content(t, x.Messages()) != want {
		t.Errorf("after %d sweeps the log has other bytes", swept)
	}
	verified(t, s, refA)
	if entries, err := os.ReadDir(filepath.Join(s.Dir(), "tmp")); err != nil || len(entries) > 0 {
		t.Errorf("it left %v in tmp, %v", entries, err)
	}
}

// tool runs a program that may not be installed.
func tool(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// inflate inflates all frames of a file.
func inflate(t testing.TB, packed []byte) []byte {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw, err := d.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// seekTable inflates a file as a reader of the seekable format does: frame by frame, as its table says.
func seekTable(t testing.TB, b []byte) (all []byte) {
	t.Helper()
	const seekFooter, seekMagic = 9, 0x184D2A5E
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	n := u32(len(b) - seekFooter)
	table := len(b) - seekFooter - 8*n
	if u32(table-8) != seekMagic || u32(table-4) != 8*n+seekFooter {
		t.Fatal("the table has no frame of its own")
	}
	at := 0
	for i := range n {
		packed, raw := u32(table+8*i), u32(table+8*i+4)
		one := inflate(t, b[at:at+packed])
		if len(one) != raw {
			t.Fatalf("frame %d inflates to %d bytes, not %d", i, len(one), raw)
		}
		all, at = append(all, one...), at+packed
	}
	if at != table-8 {
		t.Fatalf("the frames end at %d, not at %d", at, table-8)
	}
	return all
}
