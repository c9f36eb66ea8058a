package session_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

const (
	a1 = `{"role":"user","content":"one"}`
	a2 = `{"role":"assistant","content":"two"}`
	a3 = `{"role":"tool","tool_call_id":"c","content":"three"}`
)

// step is one call of a handle and what it must give.
type step struct {
	handle int
	call   string // write, writeat, flush, release, sync
	data   string
	off    int64 // of writeat
	n      int   // bytes taken; -1: all
	err    error
}

func write(data string) step { return step{call: "write", data: data, n: -1} }

func writeAt(off int64, data string) step { return step{call: "writeat", data: data, off: off, n: -1} }

func flush() step { return step{call: "flush"} }

func release() step { return step{call: "release"} }

func (s step) on(handle int) step { s.handle = handle; return s }

func (s step) refused(n int, err error) step { s.n, s.err = n, err; return s }

func (s step) gives(err error) step { s.err = err; return s }

// Each row of "Appending", as a handle sees it.
func TestAppending(t *testing.T) {
	malformed, tooLarge, appendOnly := ctxabi.ErrMalformed, ctxabi.ErrTooLarge, ctxabi.ErrAppendOnly
	end := int64(len(a1) + 1)
	huge := `{"role":"user","content":"` + strings.Repeat("x", ctxabi.MaxRecord) + `"}`
	limit := `{"role":"user","content":"` + strings.Repeat("x", ctxabi.MaxRecord-len(a1)+len("one")) + `"}`
	if len(limit) != ctxabi.MaxRecord {
		t.Fatal(len(limit))
	}
	for _, c := range []struct {
		name   string
		steps  []step
		want   string // the log
		reason string // in the last row of errors.jsonl; "": no rows
	}{
		{"a whole record", []step{write(a1 + "\n")}, a1 + "\n", ""},
		{"several records", []step{write(a1 + "\n" + a2 + "\n")}, a1 + "\n" + a2 + "\n", ""},
		{"spaces are kept", []step{write(" " + a1 + " \r\n")}, " " + a1 + " \r\n", ""},
		{"an empty write", []step{write("")}, "", ""},
		{"a record in two writes", []step{write(a1[:5]), write(a1[5:] + "\n")}, a1 + "\n", ""},
		{"a newline alone ends a record", []step{write(a1), write("\n")}, a1 + "\n", ""},
		{"the end of one and the beginning of another", []step{write(a1[:5]), write(a1[5:] + "\n" + a2 + "\n" + a3[:9]), write(a3[9:] + "\n")},
			a1 + "\n" + a2 + "\n" + a3 + "\n", ""},
		{"two handles at once", []step{write(a1[:5]), write(a2[:7]).on(1), write(a1[5:] + "\n"), write(a2[7:] + "\n").on(1)}, a1 + "\n" + a2 + "\n", ""},
		{"a record of the largest size", []step{write(limit[:1<<20]), write(limit[1<<20:] + "\n")}, limit + "\n", ""},

		{"flush of a complete record", []step{write(a1), flush()}, a1 + "\n", ""},
		{"the newline after a flush is swallowed", []step{write(a1), flush(), write("\n"), write(a2 + "\n")}, a1 + "\n" + a2 + "\n", ""},
		{"blanks after a flush are swallowed", []step{write(a1), flush(), write(" "), write("\t \n" + a2 + "\n")}, a1 + "\n" + a2 + "\n", ""},
		{"one newline after a flush, no more", []step{write(a1), flush(), write("\n\n").refused(0, malformed)}, a1 + "\n", "a blank line"},
		{"no newline after a flush", []step{write(a1), flush(), write(a2 + "\n")}, a1 + "\n" + a2 + "\n", ""},
		{"only that handle swallows", []step{write(a1), flush(), write("\n").on(1).refused(0, malformed)}, a1 + "\n", "a blank line"},
		{"flush twice", []step{write(a1), flush(), flush()}, a1 + "\n", ""},
		{"flush of nothing", []step{flush(), release()}, "", ""},
		{"flush of an incomplete record keeps it", []step{write(a1[:5]), flush().gives(malformed), write(a1[5:] + "\n")}, a1 + "\n", "not a complete record yet"},
		{"flush of an object that is no record", []step{write(`{"a":1}`), flush().gives(malformed)}, "", "not a complete record yet"},
		{"release drops what is incomplete", []step{write(a1[:5]), release(), write(a2 + "\n").on(1)}, a2 + "\n", "5 bytes of an incomplete record"},

		{"not JSON", []step{write("nope\n").refused(0, malformed)}, "", "one JSON object"},
		{"not an object", []step{write("[1]\n").refused(0, malformed)}, "", "one JSON object"},
		{"a blank line", []step{write("\n").refused(0, malformed)}, "", "a blank line"},
		{"a NUL", []step{write("{\"role\":\"user\",\"content\":\"\x00\"}\n").refused(0, malformed)}, "", "NUL"},
		{"invalid UTF-8", []step{write("{\"role\":\"user\",\"content\":\"\xff\"}\n").refused(0, malformed)}, "", "UTF-8"},
		{"no role", []step{write(`{"content":"x"}`+"\n").refused(0, malformed)}, "", "role"},
		{"valid records before a bad one stay", []step{write(a1+"\nnope\n"+a2+"\n").refused(len(a1)+1, malformed)}, a1 + "\n", "one JSON object"},
		{"a staged record and a bad one", []step{write(a1[:5]), write(a1[5:]+"\nnope\n").refused(len(a1)-5+1, malformed)}, a1 + "\n", "one JSON object"},
		{"a bad record whose beginning was staged", []step{write("no"), write("pe\n"+a1+"\n").refused(0, malformed), write(a1 + "\n")}, a1 + "\n", "one JSON object"},
		{"the rest of a refused record is refused", []step{write("no"), write("pe\n"+a1+"\n").refused(0, malformed), write("pe\n"+a1+"\n").refused(0, malformed)}, "", "one JSON object"},
		{"too large in one write", []step{write(huge+"\n").refused(0, tooLarge), write(a1 + "\n")}, a1 + "\n", "limit"},
		{"too large in several writes", []step{write(huge[:9<<20]), write(huge[9<<20:]).refused(0, tooLarge), write(a1 + "\n")}, a1 + "\n", "more than"},
		{"too large behind a good one", []step{write(a1+"\n"+huge).refused(len(a1)+1, tooLarge)}, a1 + "\n", "more than"},

		{"without O_APPEND at the end", []step{writeAt(0, a1+"\n"), writeAt(end, a2+"\n")}, a1 + "\n" + a2 + "\n", ""},
		{"without O_APPEND in pieces", []step{writeAt(0, a1[:7]), writeAt(7, a1[7:]+"\n"+a2[:3]), writeAt(end+3, a2[3:]+"\n")}, a1 + "\n" + a2 + "\n", ""},
		{"without O_APPEND below the end", []step{write(a1 + "\n"), writeAt(0, a2+"\n").refused(0, appendOnly)}, a1 + "\n", "history only grows"},
		{"without O_APPEND beyond the end", []step{writeAt(1, a1+"\n").refused(0, appendOnly)}, "", "history only grows"},
		{"without O_APPEND, another was faster", []step{writeAt(0, a1+"\n"), write(a2 + "\n").on(1), writeAt(end, a3+"\n").refused(0, appendOnly)}, a1 + "\n" + a2 + "\n", "history only grows"},
		{"without O_APPEND the newline after a flush", []step{writeAt(0, a1), flush(), writeAt(int64(len(a1)), "\n"), writeAt(end, a2+"\n")}, a1 + "\n" + a2 + "\n", ""},
		{"without O_APPEND blanks after a flush", []step{writeAt(0, a1), flush(), writeAt(end-1, " \n"), writeAt(end+1, a2+"\n")}, a1 + "\n" + a2 + "\n", ""},
		{"without O_APPEND at the true end after a flush", []step{writeAt(0, a1), flush(), writeAt(end, a2+"\n"), writeAt(end-1, a3).refused(0, appendOnly)}, a1 + "\n" + a2 + "\n", "history only grows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := sessiontest.New()
			s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			x := create(t, s, refA)
			l := x.Messages()
			stages := []*log.Stage{l.NewStage(root), l.NewStage(root)}
			for i, st := range c.steps {
				stage := stages[st.handle]
				n, err := 0, error(nil)
				switch st.call {
				case "write", "writeat":
					before := stage.Size()
					p := []byte(st.data)
					n, err = stage.Write(ctx, p, st.off, st.call == "write", arrival.Key{})
					clear(p) // the caller uses its buffer again
					if st.n < 0 {
						st.n = len(st.data)
					}
					if errors.Is(err, malformed) && stage.Size() != 0 {
						t.Errorf("step %d: %d bytes staged after a refusal, %d before", i, stage.Size(), before)
					}
				case "flush":
					err = stage.Flush(ctx, arrival.Key{})
				case "release":
					stage.Release()
				}
				if n != st.n || !errors.Is(err, st.err) || (err == nil) != (st.err == nil) {
					t.Fatalf("step %d (%s %.40q) took %d, %v; want %d, %v", i, st.call, st.data, n, err, st.n, st.err)
				}
			}
			if got := content(t, l); got != c.want {
				t.Errorf("the log is %.200q, want %.200q", got, c.want)
			}
			checkReason(t, x, c.reason)
			verified(t, s, refA)
		})
	}
}

// checkReason compares the last row of errors.jsonl.
func checkReason(t *testing.T, x *session.Session, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(x.Errors())), "\n")
	var row disk.ErrorRow
	if last := lines[len(lines)-1]; last == "" {
		if want != "" {
			t.Error("nothing was reported")
		}
		return
	} else if err := json.Unmarshal([]byte(last), &row); err != nil {
		t.Fatal(err)
	}
	if want == "" || !strings.Contains(row.Reason, want) {
		t.Errorf("reported %+v, want %q", row, want)
	}
	if row.UID != root.UID || row.Errno == "" || row.Path != ctxabi.MessagesFile || row.Time.IsZero() {
		t.Errorf("the row is incomplete: %+v", row)
	}
}

func TestAFullDiskKeepsWhatWasStaged(t *testing.T) {
	for _, c := range []struct {
		kind sessiontest.Kind
		err  error
	}{{sessiontest.ENOSPC, ctxabi.ErrNoSpace}, {sessiontest.Short, ctxabi.ErrNoSpace}, {sessiontest.EIO, ctxabi.ErrIO}} {
		for at := 1; at <= 2; at++ { // the arrival row, the data
			d := sessiontest.New()
			s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			x := create(t, s, refA)
			stage := x.Messages().NewStage(root)
			stage.Write(ctx, []byte(a1+"\n"+a2[:7]), 0, true, arrival.Key{})
			d.Fail(sessiontest.Fault{Kind: c.kind, At: at, Changes: true})
			n, err := stage.Write(ctx, []byte(a2[7:]+"\n"+a3+"\n"), 0, true, arrival.Key{})
			if n != 0 || !errors.Is(err, c.err) {
				t.Fatalf("kind %d at %d: took %d, %v", c.kind, at, n, err)
			}
			d.Heal()
			if got := content(t, x.Messages()); got != a1+"\n" || stage.Size() != 7 {
				t.Errorf("after the failure: %q, %d staged", got, stage.Size())
			}
			if n, err := stage.Write(ctx, []byte(a2[7:]+"\n"+a3+"\n"), 0, true, arrival.Key{}); err != nil {
				t.Errorf("retry took %d, %v", n, err)
			}
			if got := content(t, x.Messages()); got != a1+"\n"+a2+"\n"+a3+"\n" {
				t.Errorf("after the retry: %q", got)
			}
			verified(t, s, refA)
		}
	}
}

func TestAFailedSyncIsRemembered(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	l := x.Messages()
	stage := l.NewStage(root)
	stage.Write(ctx, []byte(a1+"\n"), 0, true, arrival.Key{})
	d.Fail(sessiontest.Fault{At: 1, Changes: true})
	if err := l.Sync(ctx); !errors.Is(err, ctxabi.ErrIO) {
		t.Fatal(err)
	}
	d.Heal()
	if err := l.Sync(ctx); !errors.Is(err, ctxabi.ErrIO) {
		t.Errorf("second Sync: %v", err)
	}
	if n, err := stage.Write(ctx, []byte(a2+"\n"), 0, true, arrival.Key{}); n != 0 || !errors.Is(err, ctxabi.ErrIO) {
		t.Errorf("Write took %d, %v", n, err)
	}
	if got := content(t, l); got != a1+"\n" {
		t.Errorf("readers see %q", got)
	}
	for range 2 * session.IdleTicks {
		session.Tick(s)
	}
	if err := l.Sync(ctx); !errors.Is(err, ctxabi.ErrIO) {
		t.Errorf("Sync after a while: %v", err)
	}
	s.Close()
	s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	if x, _ = s.Session(refA); x.Messages().Sync(ctx) != nil {
		t.Error("the log is still broken after the store was opened anew")
	}
}

func TestStagesHaveALimit(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	l := create(t, s, refA).Messages()
	var stages []*log.Stage
	for range ctxabi.MaxStages {
		st := l.NewStage(root)
		if _, err := st.Write(ctx, []byte("{"), 0, true, arrival.Key{}); err != nil {
			t.Fatal(err)
		}
		stages = append(stages, st)
	}
	st := l.NewStage(root)
	if n, err := st.Write(ctx, []byte(a1+"\n{"), 0, true, arrival.Key{}); n != len(a1)+1 || !errors.Is(err, ctxabi.ErrQuota) {
		t.Errorf("one stage too many took %d, %v", n, err)
	}
	if _, err := l.NewStage(disk.Writer{UID: 7}).Write(ctx, []byte("{"), 0, true, arrival.Key{}); err != nil {
		t.Errorf("another user: %v", err)
	}
	stages[0].Release()
	if _, err := st.Write(ctx, []byte("{"), 0, true, arrival.Key{}); err != nil {
		t.Errorf("after one was released: %v", err)
	}

	session.SetMaxInMemory(ctxabi.MaxStaged) // files in memory would be slower
	defer session.SetMaxInMemory(1000)
	part := []byte(strings.Repeat(" ", ctxabi.MaxRecord))
	other := disk.Writer{UID: 8}
	for i := range ctxabi.MaxStaged / ctxabi.MaxRecord {
		if _, err := l.NewStage(other).Write(ctx, part, 0, true, arrival.Key{}); err != nil {
			t.Fatalf("stage %d: %v", i, err)
		}
	}
	if n, err := l.NewStage(other).Write(ctx, []byte("{"), 0, true, arrival.Key{}); n != 0 || !errors.Is(err, ctxabi.ErrQuota) {
		t.Errorf("a byte too many took %d, %v", n, err)
	}
}

func TestARequestSentTwiceIsCommittedOnce(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	l := x.Messages()
	stage := l.NewStage(root)
	key := func(i int) arrival.Key { return arrival.Key{Conn: 3, Unique: uint64(i)} }
	for range 2 {
		if n, err := stage.Write(ctx, []byte(a1+"\n{"), 0, true, key(1)); n != len(a1)+2 || err != nil {
			t.Fatal(n, err)
		}
	}
	if stage.Size() != 1 {
		t.Errorf("%d bytes staged", stage.Size())
	}
	b := log.Batch{Data: []byte(a2 + "\n"), Writer: root, Key: key(2)}
	first, _ := l.Append(ctx, b)
	l.Append(ctx, log.Batch{Data: []byte(a3 + "\n"), Writer: root, Key: key(3)})
	if again, err := l.Append(ctx, b); again != first || err != nil {
		t.Errorf("sent twice: %d, %v; at first %d", again, err, first)
	}
	want := content(t, l)
	s.Close()

	s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, _ = s.Session(refA)
	l = x.Messages()
	if again, err := l.Append(ctx, b); again != first || err != nil {
		t.Errorf("sent again after a restart: %d, %v; at first %d", again, err, first)
	}
	if n, err := l.NewStage(root).Write(ctx, []byte(a1+"\n"), 0, false, key(1)); n != len(a1)+1 || err != nil {
		t.Errorf("a request without O_APPEND sent again after a restart: %d, %v", n, err)
	}
	if got := content(t, l); got != want {
		t.Errorf("the log is %q, was %q", got, want)
	}
	for i := range session.MaxKeys {
		l.Append(ctx, log.Batch{Data: []byte(a3 + "\n"), Writer: root, Key: key(100 + i)})
	}
	if again, _ := l.Append(ctx, b); again == first {
		t.Error("the oldest keys are never forgotten")
	}
	verified(t, s, refA)
}
