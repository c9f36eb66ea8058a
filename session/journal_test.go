package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// journalMessage is message i of a session with short, empty and long journal lines.
func journalMessage(i int) string {
	switch i % 7 {
	case 0:
		return fmt.Sprintf(`{"role":"user","content":"question %d"}`, i)
	case 1, 3:
		return fmt.Sprintf(`{"role":"assistant","content":"answer %d","tool_calls":[{"id":"c%d","name":"ls","arguments":"{}"}]}`, i, i)
	case 2, 4:
		return fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i-1, strings.Repeat("line\\n", i*i%9000))
	case 5:
		return `{"role":"system","content":"which has no line"}`
	}
	return `{"role":"developer","content":"which has none, either"}`
}

// wantJournal is the journal of the first n such messages.
func wantJournal(n int) (all []byte) {
	for i := range n {
		m := ctxabi.DecodeMessage([]byte(journalMessage(i)))
		all = ctxabi.AppendJournal(all, &m)
	}
	return all
}

func appendMessages(t testing.TB, x *session.Session, from, to int) {
	t.Helper()
	var data []byte
	for i := from; i < to; i++ {
		data = fmt.Appendf(data, "%s\n", journalMessage(i))
	}
	if len(data) == 0 {
		return
	}
	if _, err := x.Messages().Append(context.Background(), log.Batch{Data: data}); err != nil {
		t.Fatal(err)
	}
}

// readJournal reads as cat does.
func readJournal(t testing.TB, r *session.ViewReader, off int64) (all []byte) {
	t.Helper()
	for {
		p := make([]byte, 100<<10)
		n, err := r.ReadAt(t.Context(), p, off+int64(len(all)))
		all = append(all, p[:n]...)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil || n != len(p) {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
}

func TestAJournalHasTheSizeThatItIsSaidToHave(t *testing.T) {
	x := sessiontest.Limited(t, 0, nil)
	old := x.OpenView(session.JournalView) // which sees all that is appended
	defer old.Close()
	var seen []byte
	for n := 0; n < 700; n += 1 + n/3 {
		appendMessages(t, x, n, n+1+n/3)
		want := wantJournal(n + 1 + n/3)
		size, err := x.ViewSize(t.Context(), session.JournalView)
		if err != nil || size != int64(len(want)) {
			t.Fatalf("%d messages: %d bytes, %v, want %d", n, size, err, len(want))
		}
		fresh := x.OpenView(session.JournalView)
		if got := readJournal(t, fresh, 0); !bytes.Equal(got, want) {
			t.Fatalf("%d messages: it is another journal, of %d bytes", n, len(got))
		}
		fresh.Close()
		if seen = append(seen, readJournal(t, old, int64(len(seen)))...); !bytes.Equal(seen, want) {
			t.Fatalf("%d messages: who reads on sees another journal", n)
		}
	}
}

func TestAJournalIsReadAtAnyPlace(t *testing.T) {
	const n = 500
	x := sessiontest.Limited(t, 0, nil)
	appendMessages(t, x, 0, n)
	want := wantJournal(n)
	measured := false
	rapid.Check(t, func(t *rapid.T) {
		if !measured && rapid.Bool().Draw(t, "measure") {
			size, err := x.ViewSize(context.Background(), session.JournalView)
			if measured = true; err != nil || size != int64(len(want)) {
				t.Fatalf("%d bytes, %v, want %d", size, err, len(want))
			}
		}
		r := x.OpenView(session.JournalView)
		defer r.Close()
		for range rapid.IntRange(1, 8).Draw(t, "reads") {
			off, size := rapid.IntRange(0, len(want)+9).Draw(t, "off"), rapid.IntRange(0, 300_000).Draw(t, "size")
			p := make([]byte, size)
			got, err := r.ReadAt(context.Background(), p, int64(off))
			rest := want[min(off, len(want)):]
			if rest = rest[:min(size, len(rest))]; !bytes.Equal(p[:got], rest) || (got < size) != errors.Is(err, io.EOF) || got == size && err != nil {
				t.Fatalf("%d bytes at %d: %d bytes, %v, want %d", size, off, got, err, len(rest))
			}
		}
	})
}

func TestAJournalWithoutRoomIsRefusedAndMadeLater(t *testing.T) {
	x := sessiontest.Limited(t, 0, nil)
	appendMessages(t, x, 0, 70)
	want := wantJournal(70)
	session.SetMemory(x, memory.New(1<<20)) // less than the process has already
	r := x.OpenView(session.JournalView)
	defer r.Close()
	for range 2 {
		if _, err := x.ViewSize(t.Context(), session.JournalView); !errors.Is(err, ctxabi.ErrNoMemory) {
			t.Fatalf("its size, without room: %v", err)
		}
		if n, err := r.ReadAt(t.Context(), make([]byte, 10), 0); n != 0 || !errors.Is(err, ctxabi.ErrNoMemory) {
			t.Fatalf("without room: %d bytes, %v", n, err)
		}
	}
	session.SetMemory(x, memory.New(4<<30))
	if size, err := x.ViewSize(t.Context(), session.JournalView); err != nil || size != int64(len(want)) {
		t.Errorf("with room: %d bytes, %v, want %d", size, err, len(want))
	}
	if got := readJournal(t, r, 0); !bytes.Equal(got, want) {
		t.Errorf("with room it is another journal, of %d bytes", len(got))
	}
}

// Who returns up does not make the next one begin anew.
func TestAJournalThatIsGivenUpIsMeasuredOn(t *testing.T) {
	x := sessiontest.Limited(t, 0, nil)
	appendMessages(t, x, 0, 200)
	want := wantJournal(200)
	shown := 0
	ctx, cancel := context.WithCancel(t.Context())
	session.SetShown(x, func(_ *session.Session, line int, raw []byte) ([]byte, error) {
		if shown++; shown == 60 {
			cancel()
		}
		return raw, nil
	})
	if _, err := x.ViewSize(ctx, session.JournalView); !errors.Is(err, context.Canceled) {
		t.Fatalf("given up: %v", err)
	}
	if n, err := x.OpenView(session.JournalView).ReadAt(ctx, make([]byte, 10), 0); n != 0 || !errors.Is(err, context.Canceled) {
		t.Fatalf("given up: %d bytes, %v", n, err)
	}
	if size, err := x.ViewSize(t.Context(), session.JournalView); err != nil || size != int64(len(want)) {
		t.Fatalf("%d bytes, %v, want %d", size, err, len(want))
	}
	with := 0 // messages that have lines
	for i := range 200 {
		if i%7 < 5 {
			with++
		}
	}
	if shown != with {
		t.Errorf("%d messages were looked at, %d have lines", shown, with)
	}
}

// A message that is another one than when it was measured does not make lines that begin amid others.
func TestAJournalOfOtherMessagesIsMeasuredAnew(t *testing.T) {
	x := sessiontest.Limited(t, 0, nil)
	appendMessages(t, x, 0, 200)
	want := wantJournal(200)
	session.SetShown(x, func(_ *session.Session, line int, raw []byte) ([]byte, error) {
		if line == 1 {
			return []byte(`{"role":"user","content":"hidden for now, and for much longer than it was"}`), nil
		}
		return raw, nil
	})
	if _, err := x.ViewSize(t.Context(), session.JournalView); err != nil {
		t.Fatal(err)
	}
	session.SetShown(x, nil)
	r := x.OpenView(session.JournalView)
	defer r.Close()
	if _, err := r.ReadAt(t.Context(), make([]byte, len(want)), 0); !errors.Is(err, ctxabi.ErrIO) {
		t.Fatalf("the messages changed: %v", err)
	}
	if size, err := x.ViewSize(t.Context(), session.JournalView); err != nil || size != int64(len(want)) {
		t.Errorf("%d bytes, %v, want %d", size, err, len(want))
	}
	if got := readJournal(t, r, 0); !bytes.Equal(got, want) {
		t.Errorf("it is another journal, of %d bytes", len(got))
	}
}
