package follower

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/cluster/shared"
	"github.com/ctxfs/ctxfs/cluster/shared/sharedtest"
)

// newRig returns a running host and a session, in a bubble.
func newRig(t *testing.T) (h *Host, db *sharedtest.Database, journal shared.ID) {
	t.Helper()
	db = sharedtest.NewDatabase()
	db.Replication = func() time.Duration { return time.Millisecond }
	store := db.Client("a", nil)
	agent := shared.NewID()
	if err := store.CreateAgent(t.Context(), shared.Agent{ID: agent, Owner: "u1", Name: "agent"}); err != nil {
		t.Fatal(err)
	}
	journal = shared.NewID()
	err := store.CreateSession(t.Context(), shared.NewSession{
		Journal: journal, ID: journal, Agent: agent, Name: "s", Head: shared.Start(journal).Chain,
	})
	if err != nil {
		t.Fatal(err)
	}

	h = NewHost(store, Options{Name: "a", Format: 1})
	ctx, cancel := context.WithCancel(context.Background())
	go h.Run(ctx)
	t.Cleanup(cancel)
	return h, db, journal
}

func openCopy(t *testing.T, h *Host, journal shared.ID, d *memoryDisk) *Copy {
	t.Helper()
	c, err := h.Open("u1", journal, func() (Files, error) { return d.open(), nil })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func appendText(c *Copy, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := c.Commit(ctx, Request{Kind: shared.Message, Body: []byte(text)})
	return err
}

// A copy of an earlier life of a session is set aside, and the new life starts empty.
func TestNewLifeSetsOldCopyAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, journal := newRig(t)
		old := Mark{Journal: shared.NewID(), Position: shared.Position{I: 3}, Complete: true}
		d := &memoryDisk{mark: old}
		c := openCopy(t, h, journal, d)
		if err := appendText(c, "x\n"); err != nil {
			t.Fatal(err)
		}
		if d.aside != 1 || d.mark.Journal != journal || d.mark.I != 1 {
			t.Errorf("aside %d, mark %+v", d.aside, d.mark)
		}
	})
}

// A process that dies after it applied the removal deletes the copy when it starts again.
func TestInterruptedRemovalIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, journal := newRig(t)
		d := &memoryDisk{mark: Mark{Journal: journal, Position: shared.Position{I: 3}, Complete: true, Ended: true}}
		c := openCopy(t, h, journal, d)
		if err := appendText(c, "x\n"); !errors.Is(err, ErrRemoved) || !d.dropped {
			t.Errorf("append: %v, dropped: %t", err, d.dropped)
		}
	})
}

// Two opens of a journal share one copy.
func TestOneCopyPerJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, journal := newRig(t)
		d := new(memoryDisk)
		first := openCopy(t, h, journal, d)
		if second := openCopy(t, h, journal, d); second != first || d.handle != 1 {
			t.Error("the second open returned another copy")
		}
	})
}

// Without a connection, a request fails after its deadline, and is certain not to be stored.
func TestOutageFailsAsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, db, journal := newRig(t)
		d := new(memoryDisk)
		c := openCopy(t, h, journal, d)
		if err := appendText(c, "one\n"); err != nil {
			t.Fatal(err)
		}
		db.Cut(true)
		time.Sleep(2 * maxBeatAge)
		began := time.Now()
		if err := appendText(c, "two\n"); !errors.Is(err, shared.ErrUnavailable) || time.Since(began) > 31*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}

		began = time.Now()
		if err := c.Look(t.Context()); err != nil || time.Since(began) > time.Second {
			t.Errorf("a look without a connection: %v after %v", err, time.Since(began))
		}
		if _, _, ok := c.Status(); ok {
			t.Error("the status is ok without a connection")
		}
		db.Cut(false)
		time.Sleep(time.Minute)
		if list, _ := db.Entries(journal); len(list) != 1 {
			t.Errorf("the journal has %d entries", len(list))
		}
		if _, _, ok := c.Status(); !ok {
			t.Error("the status is not ok again")
		}
	})
}

// A full disk does not turn a stored record into a failed one.
func TestFullDiskKeepsTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, journal := newRig(t)
		d := new(memoryDisk)
		c := openCopy(t, h, journal, d)
		if err := c.Look(t.Context()); err != nil {
			t.Fatal(err)
		}

		d.full = true
		if err := appendText(c, "one\n"); err != nil {
			t.Errorf("append: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := c.Look(ctx); !errors.Is(err, ErrStale) {
			t.Errorf("look: %v", err)
		}
		d.full = false
		if err := c.Look(t.Context()); err != nil || d.count("one\n") != 1 {
			t.Errorf("look: %v, %v", err, d.records())
		}
	})
}

// Requests that wait together become one entry.
func TestWaitingRequestsShareAnEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, db, journal := newRig(t)
		c := openCopy(t, h, journal, new(memoryDisk))
		failed := make(chan error, 200)
		for range cap(failed) {
			go func() { failed <- appendText(c, "x\n") }()
		}
		for range cap(failed) {
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
		}
		if list, _ := db.Entries(journal); len(list) > 5 {
			t.Errorf("%d entries for %d requests", len(list), cap(failed))
		}
	})
}
