package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A journal of one writer has one line a step:
//
//	t 17      record 17 is about to be written
//	a 17      the write of record 17 returned without an error
//	f 17      a later fsync returned: every record acknowledged so far is durable
//	e 17 ...  record 17 failed, with the reason; the writer ends
//
// Steps are written one by one with write(2), so that the journal survives
// anything but the loss of the machine.

// record makes record n of writer w with about size bytes. It is valid in both logs.
func record(w, n, size int, rnd *rand.Rand) []byte {
	pad := make([]byte, max(size-90, 1))
	word := rnd.Uint64()
	for i := range pad {
		pad[i] = "abcdefghijklmnopqrstuvwxyz 012345"[(word>>(i%11*5))%32]
		if i%64 == 63 {
			word = rnd.Uint64()
		}
	}
	return fmt.Appendf(nil, `{"role":"user","type":"test","w":%d,"n":%d,"crc":%d,"content":"%s"}`+"\n",
		w, n, crc32.ChecksumIEEE(pad), pad)
}

// recordSize draws from mostly small records and a few up to 3 MiB.
func recordSize(rnd *rand.Rand) int {
	switch p := rnd.IntN(1000); {
	case p < 900:
		return 100 + rnd.IntN(4<<10)
	case p < 985:
		return 4<<10 + rnd.IntN(100<<10)
	default:
		return 100<<10 + rnd.IntN(3<<20-100<<10)
	}
}

func init() { harness.Helper("writer", writer) }

// writer appends records to a log until something fails or, when args say so,
// until limit records are written. Its arguments: log, journal, number of the
// writer, first record, limit (0: none), seed, fsync after about every k records (0: never).
func writer(args []string) int {
	log, journal := args[0], args[1]
	num := make([]int, 5)
	for i := range num {
		num[i], _ = strconv.Atoi(args[2+i])
	}
	w, first, limit, seed, syncEvery := num[0], num[1], num[2], num[3], num[4]
	rnd := rand.New(rand.NewPCG(uint64(seed), uint64(w)<<32|uint64(first)))
	j, err := os.OpenFile(journal, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	step := func(kind string, n int) {
		if _, err := fmt.Fprintf(j, "%s %d\n", kind, n); err != nil {
			panic(err)
		}
	}
	open := func() (*os.File, error) { return os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0) }
	f, err := open()
	if err != nil {
		fmt.Fprintf(j, "e %d %v\n", first, err)
		return 0
	}
	for n := first; limit == 0 || n < first+limit; n++ {
		b := record(w, n, recordSize(rnd), rnd)
		step("t", n)
		switch rnd.IntN(10) {
		case 0: // a record in several writes
			for cuts := rnd.IntN(4) + 1; err == nil && cuts > 0 && len(b) > 1; cuts-- {
				k := 1 + rnd.IntN(len(b)-1)
				_, err = f.Write(b[:k])
				b = b[k:]
			}
			if err == nil {
				_, err = f.Write(b)
			}
		case 1: // open, append without a newline, close: close commits
			var g *os.File
			if g, err = open(); err == nil {
				_, err = g.Write(b[:len(b)-1])
				if cerr := g.Close(); err == nil {
					err = cerr
				}
			}
		default:
			_, err = f.Write(b)
		}
		if err == nil {
			step("a", n)
			if syncEvery > 0 && rnd.IntN(syncEvery) == 0 {
				if err = f.Sync(); err == nil {
					step("f", n)
				}
			}
		}
		if err != nil {
			fmt.Fprintf(j, "e %d %v\n", n, err)
			return 0
		}
	}
	return 0
}

func init() { harness.Helper("reader", reader) }

// reader follows a log until reading fails because the daemon is gone. It
// ends with 1 when it sees half a record at the end of the log, or a NUL.
func reader(args []string) int {
	f, err := os.Open(args[0])
	if err != nil {
		return 0
	}
	buf := make([]byte, 256<<10)
	last := byte('\n')
	var at int64
	for {
		n, err := f.ReadAt(buf, at)
		at += int64(n)
		if i := bytes.IndexByte(buf[:n], 0); i >= 0 {
			fmt.Fprintf(os.Stderr, "a NUL at offset %d\n", at-int64(n)+int64(i))
			return 1
		}
		if n > 0 {
			last = buf[n-1]
		}
		switch {
		case err == io.EOF && last != '\n':
			fmt.Fprintf(os.Stderr, "the log ends at %d with %q\n", at, buf[max(0, n-60):n])
			return 1
		case err != nil && err != io.EOF:
			return 0
		}
	}
}

// steps is what a journal says.
type steps struct {
	tried   int // records begun: 0 .. tried-1
	acked   map[int]bool
	durable int // acknowledged records below this number were made durable
	failure string
}

func readJournal(tb testing.TB, name string) steps {
	tb.Helper()
	s := steps{acked: map[int]bool{}}
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1] // another process may be writing the last line
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		if line == "" {
			continue
		}
		kind, rest, _ := strings.Cut(line, " ")
		num, why, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(num)
		if err != nil {
			tb.Fatalf("journal %s: %q", name, line)
		}
		switch kind {
		case "t":
			s.tried = n + 1
		case "a":
			s.acked[n] = true
		case "f":
			s.durable = n + 1
		case "e":
			s.failure = why
		}
	}
	return s
}

// load is a set of writers on the logs of one session.
type load struct {
	tb      testing.TB
	session *harness.Session
	dir     string // of the journals
	writers int
	seed    int
}

// newLoad prepares writers for s; three in four write messages.jsonl, the others events.jsonl.
func newLoad(tb testing.TB, s *harness.Session, writers, seed int) *load {
	return &load{tb: tb, session: s, dir: tb.TempDir(), writers: writers, seed: seed}
}

func logOf(w int) string {
	if w%4 == 3 {
		return "events.jsonl"
	}
	return "messages.jsonl"
}

func (l *load) journal(w int) string { return filepath.Join(l.dir, fmt.Sprintf("writer-%d", w)) }

// start starts every writer after its last record; wait returns when all have ended.
func (l *load) start(limit, syncEvery int) (wait func()) {
	l.tb.Helper()
	var waits []func()
	for w := range l.writers {
		first := readJournal(l.tb, l.journal(w)).tried
		waits = append(waits, l.helper("writer", l.session.Path(logOf(w)), l.journal(w), strconv.Itoa(w), strconv.Itoa(first),
			strconv.Itoa(limit), strconv.Itoa(l.seed), strconv.Itoa(syncEvery)))
	}
	return func() {
		for _, f := range waits {
			f()
		}
	}
}

// startReader starts a reader of messages.jsonl; wait returns when the daemon is gone and it has ended.
func (l *load) startReader() (wait func()) {
	l.tb.Helper()
	return l.helper("reader", l.session.Path("messages.jsonl"))
}

// helper starts a helper process; wait fails the test when it ends with an error.
func (l *load) helper(name string, args ...string) (wait func()) {
	l.tb.Helper()
	cmd := l.session.Mount.HelperCommand(l.tb, l.tb.Context(), name, harness.Client{Dir: "/", UID: l.session.UID, Argv: args})
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		l.tb.Fatal(err)
	}
	return func() {
		l.tb.Helper()
		if err := cmd.Wait(); err != nil {
			l.tb.Errorf("%s: %v\n%s", name, err, out.String())
		}
	}
}

// journals reads what all writers have written down so far.
func (l *load) journals() []steps {
	l.tb.Helper()
	all := make([]steps, l.writers)
	for w := range all {
		all[w] = readJournal(l.tb, l.journal(w))
	}
	return all
}

// found is what a log holds of each writer.
type found []map[int]bool

// check reads a log, fails the test for every record that is torn, unknown,
// doubled or out of its writer's order, and gives what is there.
func check(tb testing.TB, name string, data []byte, known []steps) found {
	tb.Helper()
	seen := make(found, len(known))
	last := make([]int, len(known))
	for w := range seen {
		seen[w], last[w] = map[int]bool{}, -1
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		tb.Errorf("%s: the log does not end in a newline but in %q", name, data[max(0, len(data)-60):])
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		if len(data) == 0 {
			break
		}
		var r struct {
			W, N    *int
			CRC     uint32
			Content string
		}
		if err := json.Unmarshal(line, &r); err != nil || r.W == nil || r.N == nil {
			tb.Errorf("%s:%d: torn record: %v: %.80q ... %q", name, i+1, err, line, line[max(0, len(line)-40):])
			continue
		}
		w, n := *r.W, *r.N
		switch {
		case crc32.ChecksumIEEE([]byte(r.Content)) != r.CRC:
			tb.Errorf("%s:%d: record %d of writer %d does not have the bytes that were written", name, i+1, n, w)
		case w >= len(known) || n >= known[w].tried:
			tb.Errorf("%s:%d: record %d of writer %d was never written", name, i+1, n, w)
		case seen[w][n]:
			tb.Errorf("%s:%d: record %d of writer %d stands twice", name, i+1, n, w)
		case n < last[w]:
			tb.Errorf("%s:%d: record %d of writer %d stands after its record %d", name, i+1, n, w, last[w])
		default:
			seen[w][n], last[w] = true, n
		}
	}
	return seen
}

// checkAcked fails the test for every acknowledged record of a writer of log name that seen lacks.
func checkAcked(tb testing.TB, name string, seen found, known []steps) (acked int) {
	tb.Helper()
	for w, s := range known {
		if logOf(w) != name {
			continue
		}
		for n := range s.acked {
			acked++
			if !seen[w][n] {
				tb.Errorf("%s: acknowledged record %d of writer %d is lost", name, n, w)
			}
		}
	}
	return acked
}

// checkDurable is checkAcked for what an fsync has covered.
func checkDurable(tb testing.TB, name string, seen found, known []steps) (durable int) {
	tb.Helper()
	for w, s := range known {
		if logOf(w) != name {
			continue
		}
		for n := range s.acked {
			if n >= s.durable {
				continue
			}
			durable++
			if !seen[w][n] {
				tb.Errorf("%s: record %d of writer %d is lost although an fsync returned after it", name, n, w)
			}
		}
	}
	return durable
}

// checkLogs checks both logs of a session as they are read from dir (in a mount or a store).
func checkLogs(tb testing.TB, dir string, known []steps) (acked int) {
	tb.Helper()
	for _, name := range []string{"messages.jsonl", "events.jsonl"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			tb.Error(err)
			continue
		}
		acked += checkAcked(tb, name, check(tb, name, data, known), known)
	}
	return acked
}
