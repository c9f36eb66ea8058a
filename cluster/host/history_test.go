package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// set sets the state as a program that had opened it before does.
func (n *node) set(e session.Edit, state string) error {
	return n.x.SetControl(ctxabi.StateFile, []byte(state), e)
}

func (n *node) fresh() {
	if err := n.h.Fresh(context.Background(), n.x, 0); err != nil {
		n.r.t.Fatalf("%s: %v", n.name, err)
	}
}

// Whichever host commits it, a write that expects an entry is refused once another one has set the file.
func TestAWriteThatExpectsAnOldEntryIsStale(t *testing.T) {
	r := newRig(t, "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	if _, ok := a.x.LastSet(ctxabi.StateFile); ok {
		t.Error("it has a number before it was set")
	}
	first := a.x.Opened(ctxabi.StateFile, 1000)
	first.Only = true
	if err := a.set(first, "active\n"); err != nil {
		t.Fatal(err)
	}
	b.fresh()
	seen := b.x.Opened(ctxabi.StateFile, 1001)
	seen.Only = true
	if err := a.append("others do not matter"); err != nil {
		t.Fatal(err)
	}
	if err := b.set(seen, "idle\n"); err != nil {
		t.Errorf("what it had seen is the last: %v", err)
	}
	last, ok := b.x.LastSet(ctxabi.StateFile)
	if !ok || last.Host != "b" || last.UID != 1001 || !last.Known || last.Size != 5 || last.Time.IsZero() {
		t.Errorf("set by %+v", last)
	}
	for _, n := range r.nodes {
		err := n.set(first, "done\n")
		if !errors.Is(err, ctxabi.ErrStale) || !strings.Contains(err.Error(), fmt.Sprintf("host b has set it in entry %d", last.Entry)) || !strings.Contains(err.Error(), "none was expected") {
			t.Errorf("%s: what was set since the first look: %v", n.name, err)
		}
		if err := n.set(seen, "done\n"); !errors.Is(err, ctxabi.ErrStale) {
			t.Errorf("%s: what was set since the second look: %v", n.name, err)
		}
	}
	r.agree()
	if got := a.content(ctxabi.StateFile); got != "idle\n" {
		t.Errorf("it is %q", got)
	}
	// Notes and removals have numbers, too.
	note := a.x.Opened(ctxabi.TodoFile, 1000)
	note.Only = true
	if err := b.x.AppendNote(ctxabi.TodoFile, []byte("- [ ] b\n")); err != nil {
		t.Fatal(err)
	}
	if err := a.x.AppendNote(ctxabi.TodoFile, []byte("- [ ] a\n"), note); !errors.Is(err, ctxabi.ErrStale) {
		t.Errorf("a row that is added to another note than was seen: %v", err)
	}
	if err := a.x.SetNote(ctxabi.TodoFile, []byte("- [ ] a\n"), ctxabi.OriginAgent, note); !errors.Is(err, ctxabi.ErrStale) {
		t.Errorf("another note than was seen: %v", err)
	}
	if err := b.x.DropNote(ctxabi.TodoFile); err != nil {
		t.Fatal(err)
	}
	r.agree()
	if last, ok := a.x.LastSet(ctxabi.TodoFile); !ok || last.Size != -1 {
		t.Errorf("the note that is derived again: %+v %v", last, ok)
	}
}

// Of two that expect the same entry one is refused, also where both are committed by one host at once.
func TestOfTwoThatExpectTheSameEntryOneIsStored(t *testing.T) {
	r := newRig(t, "a", "b")
	for round := range 10 {
		for _, n := range r.nodes {
			n.fresh()
		}
		done := make(chan error)
		var opened []session.Edit
		for _, n := range r.nodes {
			e := n.x.Opened(ctxabi.BudgetFile, 1000)
			e.Only = true
			opened = append(opened, e)
		}
		for i, n := range r.nodes {
			e := opened[i]
			go func() { done <- n.x.SetControl(ctxabi.BudgetFile, fmt.Appendf(nil, "%d\n", 4000+round), e) }()
		}
		first, second := <-done, <-done
		if (first == nil) == (second == nil) || !errors.Is(errors.Join(first, second), ctxabi.ErrStale) {
			t.Fatalf("%v, %v", first, second)
		}
	}
	r.agree()
}

// Who writes over what another host has set meanwhile is told in errors.jsonl, and can read it.
func TestAnOverwriteNamesWhatItReplaced(t *testing.T) {
	r := newRig(t, "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	opened := a.x.Opened(ctxabi.StateFile, 1000)
	again := b.x.Opened(ctxabi.StateFile, 1001)
	if err := b.set(again, "idle\n"); err != nil {
		t.Fatal(err)
	}
	theirs, _ := b.x.LastSet(ctxabi.StateFile)
	if err := b.set(again, "active\n"); err != nil { // of the same host: as with one store
		t.Fatal(err)
	}
	replaced, _ := b.x.LastSet(ctxabi.StateFile)
	if err := a.set(opened, "done\n"); err != nil {
		t.Fatal(err)
	}
	own, _ := a.x.LastSet(ctxabi.StateFile)
	row := string(a.x.Errors())
	if strings.Count(row, "\n") != 1 || !strings.Contains(row, fmt.Sprintf("entry %d has replaced what host b had set in entry %d", own.Entry, replaced.Entry)) {
		t.Errorf("a was told %q", row)
	}
	if rows := b.x.Errors(); len(rows) > 0 {
		t.Errorf("b was told %q", rows)
	}
	b.fresh()
	for _, n := range r.nodes {
		for entry, want := range map[uint64]string{theirs.Entry: "idle\n", replaced.Entry: "active\n", own.Entry: "done\n"} {
			if got, err := n.x.Earlier(t.Context(), ctxabi.StateFile, entry); err != nil || string(got) != want {
				t.Errorf("%s: entry %d set %q %v, want %q", n.name, entry, got, err, want)
			}
		}
		if _, err := n.x.Earlier(t.Context(), ctxabi.StateFile, own.Entry+1); !errors.Is(err, ctxabi.ErrNotFound) {
			t.Errorf("%s: an entry that set nothing: %v", n.name, err)
		}
	}
}

// What a refused change would have made is no part of the history, nor is what was not there to be removed.
func TestAHistoryHasWhatWasMade(t *testing.T) {
	r := newRig(t, "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	pin := ctxabi.PinnedDir + "/rules.md"
	old := b.x.Opened(pin, 1000)
	old.Only = true
	large := bytes.Repeat([]byte("p"), journal.MaxBody+1)
	for _, data := range [][]byte{[]byte("one"), large} {
		if err := a.x.SetControl(pin, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.x.SetControl(pin, []byte("stale"), old); !errors.Is(err, ctxabi.ErrStale) {
		t.Fatal(err)
	}
	if err := a.x.SetControlTime(pin, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for _, held := range []string{"another", string(large)} {
		if err := b.h.CommitChange(t.Context(), b.x, session.Change{Kind: session.RemoveFile, Name: pin, If: []byte(held)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.x.RemoveControl(pin); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was removed is removed: %v", err)
	}
	for range 2 {
		if err := a.x.AppendNote(ctxabi.TodoFile, []byte("row\n")); err != nil {
			t.Fatal(err)
		}
	}
	r.agree()
	for _, n := range r.nodes {
		list, err := n.x.History(t.Context(), pin)
		if err != nil || len(list) != 3 || list[0].Size != 3 || list[1].Size != int64(len(large)) || list[2].Size != -1 {
			t.Errorf("%s: %v %v", n.name, list, err)
			continue
		}
		if got, err := n.x.Earlier(t.Context(), pin, list[1].Entry); err != nil || !bytes.Equal(got, large) {
			t.Errorf("%s: %d bytes, %v", n.name, len(got), err)
		}
		if _, err := n.x.Earlier(t.Context(), pin, list[2].Entry); !errors.Is(err, ctxabi.ErrNotFound) {
			t.Errorf("%s: a removal: %v", n.name, err)
		}
		if list, err = n.x.History(t.Context(), ctxabi.TodoFile); err != nil || len(list) != 2 || list[1].Size != 8 {
			t.Errorf("%s: %v %v", n.name, list, err)
		}
	}
	a.engine.Cut()
	if _, err := a.x.History(t.Context(), pin); !errors.Is(err, ctxabi.ErrUnreachable) {
		t.Errorf("without a cluster: %v", err)
	}
	if _, ok := a.x.LastSet(pin); !ok {
		t.Error("the last change is not known without a cluster")
	}
}

// Behind a snapshot the history begins with what the snapshot has.
func TestAHistoryOutlivesATrim(t *testing.T) {
	r := newRig(t, "a")
	a := r.nodes[0]
	for _, state := range []string{"active\n", "idle\n"} {
		if err := a.x.SetControl(ctxabi.StateFile, []byte(state)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.x.AppendNote(ctxabi.TodoFile, []byte("before\n")); err != nil {
		t.Fatal(err)
	}
	s := Subject(a.x)
	objects := bulk.NewStore(a.engine.Objects(), s.Owner)
	at := a.h.member(a.x).copy.Position()
	snap, err := objects.Take(t.Context(), a.x, at.Position, [2][]bulk.Part{})
	if err != nil {
		t.Fatal(err)
	}
	saved := must(objects.Save(t.Context(), snap))
	a.stop()
	a.startWith(map[journal.Kind]replica.Handler{journal.Snapshot: func(context.Context, *session.Session, *journal.Entry, *journal.Row) error { return nil }})
	if err := a.h.CommitRow(t.Context(), a.x, journal.Row{Kind: journal.Snapshot, Content: saved.Encode()}); err != nil {
		t.Fatal(err)
	}
	if err := r.servers.Maintenance().Trim(t.Context(), s, a.h.member(a.x).copy.Position().Seq); err != nil {
		t.Fatal(err)
	}
	if err := a.x.SetControl(ctxabi.StateFile, []byte("done\n")); err != nil {
		t.Fatal(err)
	}
	if err := a.x.AppendNote(ctxabi.TodoFile, []byte("behind\n")); err != nil {
		t.Fatal(err)
	}
	list, err := a.x.History(t.Context(), ctxabi.StateFile)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	for i, want := range []string{"idle\n", "done\n"} {
		if got, err := a.x.Earlier(t.Context(), ctxabi.StateFile, list[i].Entry); err != nil || string(got) != want {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
	if list, err = a.x.History(t.Context(), ctxabi.TodoFile); err != nil || len(list) != 2 || list[1].Size != int64(len("before\nbehind\n")) {
		t.Errorf("%v %v", list, err)
	}
}

// What a copy knows of its files comes from the leader when a replica has lost it.
func TestAHistoryIsReadWhereItIsWhole(t *testing.T) {
	r := newRig(t, "a")
	a := r.nodes[0]
	for i := range 6 {
		if err := a.x.SetControl(ctxabi.BudgetFile, fmt.Appendf(nil, "%d\n", 4000+i)); err != nil {
			t.Fatal(err)
		}
	}
	s := Subject(a.x)
	list := must(a.engine.Read(t.Context(), s, engine.Range{Leader: true}))
	for _, replica := range []int{1, 2} {
		r.servers.Lose(s.Shard(), replica, list[2].Seq)
	}
	for range 5 { // whichever replica answers
		if list, err := a.x.History(t.Context(), ctxabi.BudgetFile); err != nil || len(list) != 6 {
			t.Errorf("%v %v", list, err)
		}
	}
}
