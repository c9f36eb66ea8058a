package log_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// gatherer commits what is elsewhere, as one after the other, and knows where copies end.
type gatherer struct {
	log.Committer
	marks  map[string]log.Mark // of logs that end there at most
	places []int64             // of batches, as they were asked for
}

func (g *gatherer) SharesTurn() bool { return true }
func (g *gatherer) Gathers() bool    { return true }

func (g *gatherer) Kept(_ *disk.Dir, name string) (log.Mark, bool) {
	at, ok := g.marks[name]
	return at, ok
}

func (g *gatherer) Commit(ctx context.Context, l *log.Log, b log.Batch, expected int64) (int64, error) {
	g.places = append(g.places, expected)
	defer log.Hold(l)() // it is free
	tail, err := l.Tail()
	if err != nil {
		return 0, err
	}
	if expected != log.Anywhere && expected != tail.Size {
		return 0, ctxabi.ErrConflict
	}
	row, next := tail.Order([]byte("before"), arrival.Row{Len: int64(len(b.Data)), SHA: sha256.Sum256(b.Data), At: 5, Events: 0})
	if err := l.Apply(row[len("before"):], b.Data); err != nil {
		return 0, err
	}
	if now, err := l.Tail(); err != nil || now != next {
		return 0, errors.New("the tail is not what Order returned")
	}
	return next.Size, nil
}

func TestACopyEndsAtItsMark(t *testing.T) {
	dir := t.TempDir()
	g := &gatherer{}
	s, x := sessiontest.Session(t, dir, session.Options{Committer: g})
	l := x.Messages()
	lines := []string{`{"role":"user","content":"one"}` + "\n", `{"role":"user","content":"two"}` + "\n", `{"role":"user","content":"three"}` + "\n"}
	var marks []log.Mark
	for _, line := range lines {
		if _, err := l.Append(t.Context(), log.Batch{Data: []byte(line)}); err != nil {
			t.Fatal(err)
		}
		tail, err := l.Tail()
		if err != nil {
			t.Fatal(err)
		}
		marks = append(marks, tail.Mark())
	}
	if _, err := l.NewStage(disk.Writer{}).Write(t.Context(), []byte(lines[0]), l.Len(), false, arrival.Key{}); err != nil {
		t.Fatal(err)
	}
	if want := []int64{log.Anywhere, log.Anywhere, log.Anywhere, marks[2].Size}; len(g.places) != 4 || g.places[0] != want[0] || g.places[3] != want[3] {
		t.Errorf("batches were asked for at %d, want %d", g.places, want)
	}
	s.Close()

	// What lies behind the mark, with rows or without, is not adopted.
	file := x.Dir() + "/" + ctxabi.MessagesFile
	for _, stray := range []string{"", `{"role":"user","content":"nobody's"}` + "\n"} {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(stray)
		f.Close()
		g.marks = map[string]log.Mark{ctxabi.MessagesFile: marks[1]}
		s, x := sessiontest.Session(t, dir, session.Options{Committer: g})
		if at, err := log.Look(x.Disk(), ctxabi.MessagesFile); err != nil || stray == "" && at.Size != marks[2].Size+int64(len(lines[0])) {
			t.Errorf("a look: %v %v", at, err)
		}
		tail, err := x.Messages().Tail()
		if err != nil || tail.Mark() != marks[1] {
			t.Errorf("the copy ends at %v, want %v (%v)", tail.Mark(), marks[1], err)
		}
		s.Close()
		if b, err := os.ReadFile(file); err != nil || string(b) != lines[0]+lines[1] {
			t.Errorf("%q %v", b, err)
		}
		if kept, err := os.ReadDir(x.Dir() + "/" + disk.QuarantineDir); (stray != "") != (err == nil && len(kept) == 1) || err == nil && !strings.HasPrefix(kept[0].Name(), ctxabi.MessagesFile) {
			t.Errorf("in the quarantine: %v %v", kept, err)
		}
	}
}

func TestWhoWaitsForATurnMayGiveUp(t *testing.T) {
	_, x := sessiontest.Session(t, t.TempDir(), session.Options{})
	release := log.Hold(x.Events())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := log.HoldWithin(ctx, x.Messages(), x.Events()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	release()
	log.Hold(x.Messages(), x.Events())() // that of messages was given back
}
