package gc

import (
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestHistoryTakesTwoDecisions(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		policy, log     string
		archive, remove time.Duration
	}{
		{"", ctxabi.MessagesFile, 0, 0},
		{"delete_after=1d", ctxabi.MessagesFile, 0, 0},
		{"keep_messages=0", ctxabi.MessagesFile, 0, 0},
		{"keep_messages=0\ndelete_after=1d", ctxabi.MessagesFile, 0, day},
		{"keep_messages=0\ndelete_after=1d", ctxabi.EventsFile, 0, 0},
		{"keep_events=0\narchive_after=2d\ndelete_after=1w", ctxabi.EventsFile, 2 * day, 7 * day},
		{"keep_events=0\narchive_after=2d", ctxabi.MessagesFile, 0, 0},
		{"keep_messages=0\nkeep_events=0\ndelete_after=1d", "context/pinned/rules.md", 0, 0},
	} {
		p, err := ctxabi.ParsePolicy([]byte(c.policy))
		if err != nil {
			t.Fatal(err)
		}
		if a, r := HistoryAges(p, c.log); a != c.archive || r != c.remove {
			t.Errorf("%q for %s: %v, %v; want %v, %v", c.policy, c.log, a, r, c.archive, c.remove)
		}
	}
}
