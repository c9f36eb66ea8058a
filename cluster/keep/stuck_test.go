package keep

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/nats"
)

// What a host cannot continue is named with its journal and a remedy, and on one line; what is no journal is not named.
func TestJournalsThatHostsCannotContinueAreNamed(t *testing.T) {
	id := strings.Repeat("5a", 16)
	found := stuck([]nats.HostRow{
		{Host: "a"},
		{Host: "b", Stuck: []nats.StuckRow{{Owner: "u1000", Session: id, Seq: 41, Why: "it ends\nbefore"}, {Owner: "u1000", Session: "../x", Seq: 1, Why: "x"}}},
	})
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	s := found[0].String()
	for _, want := range []string{"CTXJ_", "entry 41 of journal u1000/" + id, "on all servers", "host b", `it ends\nbefore`, "ctxfs cluster restore"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in %q", want, s)
		}
	}
	if repairable(found) != nil {
		t.Error("a replica is made anew because of it")
	}
}
