package past

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// reading is a session whose packs are read with cat; it knows what cat printed.
type reading struct {
	*harness.Session
	t    *testing.T
	turn int
	read []string // what cat printed of each pack, in order
}

func (r *reading) next() {
	r.t.Helper()
	r.turn++
	r.Append("messages.jsonl", turn(r.turn))
	r.read = append(r.read, r.Bash("cat context/pack.md").OK())
}

// check holds all rows and all that is kept against what cat printed.
func (r *reading) check(when string) {
	r.t.Helper()
	list := rows(r.t, r.Session)
	if len(list) != len(r.read) {
		r.t.Fatalf("%s: %d rows for %d packs", when, len(list), len(r.read))
	}
	var names []string
	for i, row := range list {
		name := "context/served/" + row.PackID + ".md"
		names = append(names, filepath.Base(name))
		if got := r.Read(name); got != r.read[i] {
			r.t.Errorf("%s: row %d names\n%s\n-- and cat printed\n%s", when, i, got, r.read[i])
		}
	}
	entries, err := os.ReadDir(r.Path("context/served"))
	var listed []string
	for _, e := range entries {
		listed = append(listed, e.Name())
	}
	slices.Sort(names)
	if err != nil || !slices.Equal(listed, slices.Compact(names)) {
		r.t.Errorf("%s: context/served lists %q, %v; want %q", when, listed, err, names)
	}
}

// What a program read can be read again: after more records, a restart and a kill.
func TestWhatWasReadIsKept(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--budget", "1500"}})
	r := &reading{Session: m.NewSession(t), t: t}
	for range 30 {
		r.next()
	}
	r.check("at once")
	m.Restart()
	r.check("after a restart")
	for range 10 {
		r.next()
	}
	r.check("after more")
	m.Kill()
	m.Restart()
	r.check("after a kill")
	r.Bash("cat context/pack.md").OK() // that of the last row
	r.check("after the same again")
	r.next()
	r.check("after one more")

	list := rows(t, r.Session)
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range list {
		kept := r.read[i][:row.KeptBytes]
		at, err := time.Parse(time.RFC3339Nano, row.At)
		if row.Messages != i+1 || row.File != "pack.md" || row.UID != harness.Self() || row.PID == 0 || err != nil || !strings.HasSuffix(row.At, "Z") || time.Since(at) > time.Hour ||
			row.Tokens != counter.Count(r.read[i]) || row.KeptTokens != counter.Count(kept) || row.PrefixBytes > len(r.read[i]) {
			t.Errorf("row %d: %+v", i, row)
		}
		if i > 0 && (!strings.HasPrefix(r.read[i-1], kept) || row.Epoch == list[i-1].Epoch && row.KeptBytes < list[i-1].PrefixBytes) {
			t.Errorf("row %d keeps %d bytes of the one before, which promised %d", i, row.KeptBytes, list[i-1].PrefixBytes)
		}
	}
	last := list[len(list)-1]
	if last.Compactions == 0 {
		t.Error("nothing was compacted")
	}
	name := "context/served/" + last.PackID + ".md"
	for attr, want := range map[string]string{"pack_id": last.PackID, "tokens": fmt.Sprint(last.Tokens), "origin": "derived",
		"sha256": strings.TrimPrefix(ctxabi.ContentID([]byte(r.read[len(r.read)-1])), "sha256-")} {
		if got, err := r.Session.Xattr(name, attr); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", attr, got, err, want)
		}
	}
	for _, bad := range []string{"x", ".x", last.PackID, last.PackID + ".json", "sha256-" + strings.Repeat("0", 64) + ".md", strings.ToUpper(last.PackID) + ".md"} {
		harness.WantAbsent(t, r.Session.Path("context/served/"+bad))
	}
	if _, err := unix.Open(r.Path(name), unix.O_WRONLY, 0); err != unix.EACCES {
		t.Errorf("open for writing: %v", err)
	}
}

// Only another pack makes a row, and only where a file of it is opened to be read.
func TestOneRowAPackThatIsRead(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", turn(1))
	has := func(what string, files ...string) {
		t.Helper()
		var got []string
		for _, r := range rows(t, s) {
			got = append(got, r.File)
		}
		if !slices.Equal(got, files) {
			t.Errorf("%s: rows of %q, want %q", what, got, files)
		}
	}
	s.Bash("ls -lR context; stat context/pack.md; getfattr -d context/pack.md; cat context/at/1/pack.md context/at/0/pack.json").OK()
	has("looked at")
	s.Bash("for i in $(seq 100); do cat context/pack.json; done; cat context/pack.*").OK()
	has("read a hundred times", "pack.json")
	s.Append("messages.jsonl", turn(2))
	s.Bash("cat context/at/*/pack.md context/at/1/pack.md context/at/2/pack.md context/served/*; cat context/packs.jsonl")
	has("read elsewhere", "pack.json")
	s.Bash("cat context/pack.openai.json").OK()
	has("read another one", "pack.json", "pack.openai.json")
	s.Write("context/budget", "3000")
	s.Bash("cat context/pack.md").OK()
	s.Write("context/budget", "")
	s.Bash("cat context/pack.md; rm context/pack.md; cat context/pack.md").OK()
	has("read an old one again", "pack.json", "pack.openai.json", "pack.md", "pack.md")
	list := rows(t, s)
	if list[1].PackID != list[3].PackID || len(s.Bash("ls context/served").OK()) != 3*(7+64+3+1) {
		t.Errorf("%+v\n%s", list, s.Bash("ls context/served").Stdout)
	}
	m.CLI(t, "pack", "--store", m.Store, s.Ref()).OK()
	has("after ctxfs pack", "pack.json", "pack.openai.json", "pack.md", "pack.md")
}

// Kills while packs are read leave whole rows, all that had been seen among them, and each names what was read.
func TestAKillTearsNoRow(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--budget", "1500"}})
	s := m.NewSession(t)
	read := map[string]string{} // by the hash of the bytes
	n, written := 0, 0
	for round := range 6 {
		var wg sync.WaitGroup
		begun := make(chan struct{})
		wg.Go(func() {
			for i := 0; ; i++ {
				f, err := os.OpenFile(s.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					return
				}
				n++
				_, err = io.WriteString(f, turn(n))
				f.Close()
				if err != nil {
					return
				}
				b, err := os.ReadFile(s.Path("context/pack.md"))
				if err != nil {
					return
				}
				read[ctxabi.ContentID(b)] = string(b)
				if i == 5+round*3 {
					if b, err := os.ReadFile(s.Path("context/packs.jsonl")); err == nil { // it waits for the rows of what was read
						written = strings.Count(string(b), "\n")
					}
					close(begun)
				}
			}
		})
		<-begun
		m.Kill()
		wg.Wait()
		m.Restart()
		list := rows(t, s)
		if written < 5*(round+1) || len(list) < written {
			t.Errorf("round %d: %d rows, %d before the kill; %s", round, len(list), written, s.Read("context/errors.jsonl"))
		}
		for i, r := range list {
			got := s.Read("context/served/" + r.PackID + ".md")
			// The last pack before a kill may have been opened without its bytes having come.
			if _, ok := read[ctxabi.ContentID([]byte(got))]; !ok && (i+1 < len(list) && list[i+1].Messages == r.Messages || got != s.Read(fmt.Sprintf("context/at/%d/pack.md", r.Messages))) {
				t.Errorf("round %d: row %d names what nobody read:\n%s", round, i, got)
			}
		}
	}
}

// Rows and packs that are older than pack_ttl leave, and with them their bytes.
func TestWhatIsTooOldLeaves(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--gc-interval=0"}}) // whoever reads another one lets them go, and the collector not before
	r := &reading{Session: m.NewSession(t), t: t}
	for range 20 {
		r.next()
	}
	r.check("with the default")
	stored := func() (n int64) {
		list, _ := filepath.Glob(filepath.Join(r.InStore(), ".ctxfs/served/[0-9]*"))
		for _, name := range list {
			if fi, err := os.Stat(name); err == nil {
				n += fi.Size()
			}
		}
		return n
	}
	before := stored()
	old := rows(t, r.Session)[0].PackID
	open, err := os.Open(r.Path("context/served/" + old + ".md"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	last := rows(t, r.Session)[19]
	r.Write("context/gc.policy", "pack_ttl=1ms\n")
	harness.Eventually(t, "the last row to be old", func() bool {
		at, _ := time.Parse(time.RFC3339Nano, last.At)
		return time.Since(at) > 10*time.Millisecond
	})
	r.check("before another one is read")
	r.read = nil
	r.next()
	r.check("after another one was read")
	if now, whole := stored(), int64(len(r.read[0])); now < whole || now > whole+500 || before < 2*whole {
		t.Errorf("%d bytes were kept, now %d of a pack of %d", before, now, whole)
	}
	harness.WantAbsent(t, r.Session.Path("context/served/"+old+".md"))
	if b, err := io.ReadAll(open); err != nil || !strings.Contains(string(b), "turn1 says") {
		t.Errorf("who had it open reads %q, %v", b, err)
	}
	r.Write("context/gc.policy", "pack_ttl=0\n")
	for range 5 {
		r.next()
	}
	r.check("kept for good")
}

// What packs have in common is kept once.
func TestWhatIsReadTakesLittleRoom(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--budget", "8000"}})
	s := m.NewSession(t)
	read, written := 0, 0
	for i := range 300 {
		text := turn(i)
		s.Append("messages.jsonl", text)
		written += len(text)
		read += len(s.Read("context/pack.md"))
	}
	list := rows(t, s)
	if len(list) != 300 || list[299].Compactions == 0 {
		t.Fatalf("%d rows, the last is %+v", len(list), list[len(list)-1])
	}
	stored := int64(0)
	files, err := filepath.Glob(filepath.Join(s.InStore(), ".ctxfs/served/*"))
	for _, name := range files {
		fi, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		stored += fi.Size()
	}
	t.Logf("%d packs of %d bytes, made of %d bytes of records in %d compactions, take %d bytes", len(list), read, written, list[299].Compactions, stored)
	if err != nil || stored == 0 || stored > int64(read/5) {
		t.Errorf("they take more than a fifth, %v", err)
	}
}

// tail -f sees each row once.
func TestTailFollowsTheRows(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--gc-interval=0"}}) // the collector would let the last row go, too
	r := &reading{Session: m.NewSession(t), t: t}
	r.next()
	next := r.Follow("context/packs.jsonl")
	for i := range 8 {
		if i > 0 {
			r.next()
		}
		line := next()
		if want := rows(t, r.Session)[i].PackID; !strings.Contains(line, want) {
			t.Fatalf("row %d: tail printed %q; want that of %s", i, line, want)
		}
	}
	// Old rows leave: tail begins anew.
	r.Write("context/gc.policy", "pack_ttl=1ms\n")
	r.next()
	want := rows(t, r.Session)
	if len(want) != 1 {
		t.Fatalf("%d rows are left", len(want))
	}
	if line := next(); !strings.Contains(line, want[0].PackID) {
		t.Fatalf("tail printed %q; want that of %s", line, want[0].PackID)
	}
}
