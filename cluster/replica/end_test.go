package replica

import (
	"context"
	"errors"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// blind is an engine whose servers cannot read the last entry of a journal, and then say that there is none.
type blind struct{ engine.Engine }

func (blind) Last(context.Context, engine.Subject, bool) (engine.Entry, error) {
	return engine.Entry{}, nil
}

// A journal whose last entry the servers could not read was taken for one that never began: a new copy was shown empty,
// and what was appended to it became its first entry.
func TestAJournalWithoutAnEndWasTakenForANewOne(t *testing.T) {
	servers, m, _ := setup(t, Options{})
	_, _, c := setup(t, Options{Engine: blind{servers.Host("copy")}})
	if err := c.Confirm(t.Context()); err != nil {
		t.Errorf("a journal that never began: %v", err)
	}
	c.subject = m.s
	m.put(m.record("one"))
	m.put(m.record("two"))
	if err := c.Confirm(t.Context()); !errors.Is(err, ErrOlder) {
		t.Errorf("a journal with two entries and no end: %v", err)
	}
	if at := c.Position(); at.I != 0 {
		t.Errorf("the copy is at %d", at.I)
	}
}
