package enginetest

import (
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Rig makes engines of one cluster. The cluster may have entries of earlier tests.
type Rig struct {
	// Host returns the engine of a host that serves owners, or all of them if none is named. It is
	// closed at the end of the test at the latest.
	Host func(t testing.TB, name string, owners ...string) engine.Engine
	// Maintenance returns the engine of the user that may trim, delete and attest.
	Maintenance func(t testing.TB) engine.Engine
}

// Run tests an engine.
func Run(t *testing.T, r Rig) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Rig)
	}{
		{"an entry is read as it was appended", entriesStay},
		{"a subject has an order of its own", subjectsAreApart},
		{"only what expects the end is appended", expectations},
		{"one of many wins each place", oneWins},
		{"an entry is stored once under its id", onceUnderAnID},
		{"an id of another entry is refused", takenIDs},
		{"a fence settles what is unknown", fences},
		{"what no engine takes is refused", refusals},
		{"reads are in order and within limits", ranges},
		{"the leader knows the end", theLeaderKnows},
		{"a feed delivers what comes", feeds},
		{"a trim takes what is below", trims},
		{"a subject that was trimmed as a whole begins once", revivals},
		{"objects are kept", objectsAreKept},
		{"objects never change", objectsNeverChange},
		{"a host of some owners reaches no other", otherOwners},
		{"only maintenance removes", onlyMaintenance},
		{"replicas agree", replicasAgree},
		{"a context that is done ends a call", doneContexts},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, r) })
	}
}
