package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// onDisk returns a cluster whose stores are in directories of the system.
func onDisk(t *testing.T, names ...string) *rig {
	r := newRig(t)
	for _, name := range names {
		r.add(&node{name: name, fs: vfs.OS, dir: t.TempDir()})
	}
	t.Cleanup(func() {
		for _, n := range r.nodes {
			n.stop()
		}
	})
	return r
}

// append appends a message and returns the error.
func (n *node) append(text string) error {
	_, err := n.x.Messages().Append(context.Background(), log.Batch{Data: message(text), Writer: writer})
	return err
}

func TestHostsHaveTheSame(t *testing.T) {
	r := onDisk(t, "a", "b", "c")
	a, b, c := r.nodes[0], r.nodes[1], r.nodes[2]
	for i, n := range []*node{a, b, a, c, b, a} {
		if err := n.append(fmt.Sprint("m", i)); err != nil {
			t.Fatal(err)
		}
		if _, err := n.x.Events().Append(t.Context(), log.Batch{Data: event(fmt.Sprint("e", i)), Writer: writer}); err != nil {
			t.Fatal(err)
		}
		if got := n.content(ctxabi.MessagesFile); !strings.HasSuffix(got, string(message(fmt.Sprint("m", i)))) {
			t.Errorf("%s has not what it has appended: %q", n.name, got)
		}
	}
	for _, err := range []error{
		a.x.SetControl(ctxabi.StateFile, []byte("active\n")), b.x.SetControl(ctxabi.BudgetFile, []byte("4000\n")),
		c.x.AppendNote(ctxabi.TodoFile, []byte("one\n")), b.x.MakeChild("rev-0"), a.x.Events().Sync(t.Context()), c.h.Fresh(t.Context(), c.x, 0),
		c.x.RenameChild("rev-0", "rev-1"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := a.x.MakeChild("rev-1"); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("a child that another host has made: %v", err)
	}
	if lines := r.agree(); strings.Count(lines, "\n") != 12 {
		t.Errorf("%q", lines)
	}
	if s := a.h.Stats(); s.Own == 0 || s.Taken == 0 {
		t.Errorf("the home committed %+v", s)
	}
	if s := b.h.Stats(); s.Handed == 0 {
		t.Errorf("another host committed %+v", s)
	}
}

// What two hosts add to a note stands there, though neither had seen the other's.
func TestRowsAreAddedToWhatANoteIsByThen(t *testing.T) {
	r := newRig(t, "a", "b")
	want := ""
	for i := range 6 {
		row := fmt.Sprintf("row %d\n", i)
		if err := r.nodes[i%2].x.AppendNote(ctxabi.TodoFile, []byte(row)); err != nil {
			t.Fatal(err)
		}
		want += row
	}
	r.agree()
	if note, err := r.nodes[0].x.Note(ctxabi.TodoFile); err != nil || string(note.Own) != want {
		t.Errorf("%q %v", note.Own, err)
	}
}

// Who waits together stands in one entry.
func TestAGroupIsOneEntry(t *testing.T) {
	r := newRig(t, "a")
	a := r.nodes[0]
	if err := a.append("first"); err != nil {
		t.Fatal(err)
	}
	hold := must(a.h.member(a.x).hold(t.Context()))
	const writers = 100
	var all sync.WaitGroup
	errs := make(chan error, writers)
	for i := range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			errs <- a.append(fmt.Sprint(i))
		}()
	}
	m := a.h.member(a.x)
	for queued := 0; queued < writers; { // they all come, since nobody but this test holds them up
		m.mu.Lock()
		queued = len(m.queue)
		m.mu.Unlock()
	}
	before := m.copy.Position().I
	hold()
	all.Wait()
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if entries := m.copy.Position().I - before; entries != 2 {
		t.Errorf("%d appends are %d entries, want 2 of at most %d rows", writers, entries, journal.MaxRows)
	}
	if n := strings.Count(r.agree(), "\n"); n != writers+1 {
		t.Errorf("%d records", n)
	}
}

func TestALargeRecordIsAnObject(t *testing.T) {
	r := newRig(t, "a", "b")
	for i, n := range r.nodes {
		text := strings.Repeat(string(rune('x'+i)), journal.MaxBody+1)
		if err := n.append(text); err != nil {
			t.Fatal(err)
		}
		if err := n.x.SetControl(ctxabi.PinnedDir+"/"+n.name, bytes.Repeat([]byte("p"), journal.MaxBody+1)); err != nil {
			t.Fatal(err)
		}
	}
	if lines := r.agree(); len(lines) < 2*journal.MaxBody {
		t.Errorf("%d bytes", len(lines))
	}
	for _, n := range r.nodes {
		if got := n.content(ctxabi.PinnedDir + "/b"); len(got) != journal.MaxBody+1 {
			t.Errorf("%s: %d bytes are pinned", n.name, len(got))
		}
	}
	// Nothing is stored of what cannot be put there.
	r.servers.Fill(true)
	if err := r.nodes[0].append(strings.Repeat("z", journal.MaxBody+1)); !errors.Is(err, ctxabi.ErrNoSpace) {
		t.Errorf("a full cluster: %v", err)
	}
	if strings.Contains(r.agree(), "zz") {
		t.Error("it was stored")
	}
}

func TestAWriteForAPlaceFindsTheEndOfTheJournal(t *testing.T) {
	r := newRig(t, "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	if err := a.append("one"); err != nil {
		t.Fatal(err)
	}
	old := b.x.Messages().Len() // b has not seen it
	if old != 0 {
		t.Fatal("b follows")
	}
	if _, err := b.x.Messages().NewStage(writer).Write(t.Context(), message("two"), 0, false, arrival.Key{Conn: 1, Unique: 1}); !errors.Is(err, ctxabi.ErrAppendOnly) {
		t.Errorf("a write at a place that is taken elsewhere: %v", err)
	}
	if _, err := b.x.Messages().NewStage(writer).Write(t.Context(), message("two"), b.x.Messages().Len(), false, arrival.Key{Conn: 1, Unique: 2}); err != nil {
		t.Errorf("at the end: %v", err)
	}
	if lines := r.agree(); lines != string(message("one"))+string(message("two")) {
		t.Errorf("%q", lines)
	}
}

func TestARequestIsCommittedOnceOnAllHosts(t *testing.T) {
	r := newRig(t, "a", "b")
	key := arrival.Key{Conn: 7, Unique: 9}
	for _, n := range r.nodes {
		if err := n.h.Fresh(t.Context(), n.x, 0); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			end, err := n.x.Messages().Append(t.Context(), log.Batch{Data: message("once"), Writer: writer, Key: key})
			if err != nil || end != int64(len(message("once"))) {
				t.Errorf("%s: %d %v", n.name, end, err)
			}
		}
	}
	if lines := r.agree(); lines != string(message("once")) {
		t.Errorf("%q", lines)
	}
}

func TestACutOffHostReadsAndDoesNotWrite(t *testing.T) {
	r := newRig(t, "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	if err := a.append("before"); err != nil {
		t.Fatal(err)
	}
	a.engine.Cut()
	if err := a.append("meanwhile"); !errors.Is(err, ctxabi.ErrUnreachable) {
		t.Errorf("an append without a cluster: %v", err)
	}
	if err := a.h.Fresh(t.Context(), a.x, 0); !errors.Is(err, ctxabi.ErrUnreachable) {
		t.Errorf("the state of a copy without a cluster: %v", err)
	}
	if a.content(ctxabi.MessagesFile) != string(message("before")) {
		t.Error("the copy cannot be read")
	}
	r.net.Cut("a", true)
	if err := b.append("elsewhere"); err != nil {
		t.Errorf("on another host: %v", err)
	}
	if lines := r.agree(); lines != string(message("before"))+string(message("elsewhere")) {
		t.Errorf("%q", lines)
	}
}

// What the cluster has lost is never written over.
func TestALossIsNotWrittenOver(t *testing.T) {
	r := newRig(t, "a")
	a := r.nodes[0]
	for _, text := range []string{"one", "two", "three"} {
		if err := a.append(text); err != nil {
			t.Fatal(err)
		}
	}
	s := SubjectOf(ref, id)
	was := a.content(ctxabi.MessagesFile)
	for _, lost := range []int{2, 100} {
		r.servers.Truncate(s.Shard(), lost)
		err := a.append("four")
		if !errors.Is(err, ctxabi.ErrIO) || !errors.Is(err, errLost) {
			t.Errorf("an append to a journal that has lost %d entries: %v", lost, err)
		}
		if end := must(a.engine.Last(t.Context(), s, true)); end.Seq >= a.h.member(a.x).copy.Position().Seq {
			t.Errorf("the journal goes on at %d", end.Seq)
		}
	}
	if a.content(ctxabi.MessagesFile) != was || a.h.Stats().Lost == 0 {
		t.Error("the copy is not what it was, or nobody counted")
	}
}

// An old leader refuses for a while; the record is stored once all the same.
func TestAnOldLeaderIsAskedAgain(t *testing.T) {
	r := newRig(t, "a")
	a := r.nodes[0]
	if err := a.append("one"); err != nil {
		t.Fatal(err)
	}
	for _, f := range []fake.Fault{fake.OldLeader, fake.Busy, fake.OldLeader, fake.Busy, fake.LoseAck} {
		a.engine.Inject(f)
	}
	if err := a.append("two"); err != nil {
		t.Error(err)
	}
	if lines := r.agree(); lines != string(message("one"))+string(message("two")) {
		t.Errorf("%q", lines)
	}
}

func TestAFenceDecidesWhatIsUnknown(t *testing.T) {
	for _, lands := range []bool{false, true} {
		r := newRig(t, "a", "b")
		a := r.nodes[0]
		if err := a.append("one"); err != nil {
			t.Fatal(err)
		}
		for range maxUnknown + 1 {
			a.engine.Inject(fake.Delay)
		}
		if err := a.append("two"); !errors.Is(err, ctxabi.ErrIO) {
			t.Errorf("nobody knows: %v", err)
		}
		if lands {
			r.servers.Land()
		}
		if err := a.append("three"); err != nil {
			t.Error(err)
		}
		want := string(message("one"))
		if lands {
			want += string(message("two"))
		}
		if lines := r.agree(); lines != want+string(message("three")) {
			t.Errorf("%q", lines)
		}
	}
}

func TestAHomeLetsGo(t *testing.T) {
	r := newRig(t, "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	if err := a.append("first"); err != nil {
		t.Fatal(err)
	}
	if err := b.h.Fresh(t.Context(), b.x, 0); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := b.append(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		home := b.h.member(b.x).copy.Position().Host
		if want := map[bool]string{true: "a", false: "b"}[i < maxRun]; home != want {
			t.Errorf("after %d appends of b the home is %s, want %s", i+1, home, want)
		}
	}
	r.agree()
}

func TestAnEndedJournalTakesNothing(t *testing.T) {
	r := newRig(t, "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	if err := b.append("one"); err != nil {
		t.Fatal(err)
	}
	release := must(a.h.member(a.x).hold(t.Context()))
	err := a.h.End(t.Context(), a.x)
	release()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.nodes {
		if err := n.append("two"); !errors.Is(err, ctxabi.ErrNotFound) {
			t.Errorf("%s: %v", n.name, err)
		}
	}
	r.agree()
}

// A session that is made has an entry, so that it has a home.
func TestASessionBeginsWithItsMaker(t *testing.T) {
	r := newRig(t, "a")
	a := r.nodes[0]
	other := ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s2"}
	x, err := a.s.Create(other, owner)
	if err != nil {
		t.Fatal(err)
	}
	if end := must(a.engine.Last(t.Context(), Subject(x), true)); end.Seq == 0 {
		t.Error("the journal is empty")
	}
	if got := SubjectOf(ctxabi.Ref{Space: "team"}, id); got != (engine.Subject{Owner: "sehim4ra", Session: id}) && got.Check() != nil {
		t.Errorf("%v", got)
	}
}

func TestAFeedIsApplied(t *testing.T) {
	r := newRig(t, "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := a.append("before"); err != nil {
		t.Fatal(err)
	}
	feed := must(b.engine.Follow(ctx, SubjectOf(ref, id)))
	for _, f := range []fake.Fault{fake.Swap, fake.Double, fake.StaleRead, fake.LoseFeed} {
		b.engine.Inject(f)
	}
	want := string(message("before"))
	for i := range 10 {
		if err := a.append(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		want += string(message(fmt.Sprint(i)))
	}
	done := make(chan struct{})
	go func() {
		b.h.member(b.x).follow(ctx, feed, nil)
		close(done)
	}()
	b.h.Follow(ctx, b.x)
	for b.x.Messages().Len() < int64(len(want)) { // or the test's time ends
		if err := ctx.Err(); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	<-done
	if got := b.content(ctxabi.MessagesFile); got != want {
		t.Errorf("%q", got)
	}
	r.agree()
}
