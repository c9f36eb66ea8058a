// Package child makes, links, moves and removes the children of a session
// through the mount, with the tools of a shell.
package child

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const alice, bob, team = harness.Alice, harness.Bob, harness.Team

var sessions atomic.Int64

// family is a session and another one of the same owner, below another agent, that is its child rev-1.
func family(t *testing.T, m *harness.Mount) (parent, child *harness.Session) {
	t.Helper()
	n := sessions.Add(1)
	parent = m.Session(t, harness.Self(), "coder", fmt.Sprintf("s%d", n))
	child = m.Session(t, harness.Self(), "rev", fmt.Sprintf("r%d", n))
	parent.Bash("mkdir context/child/rev-1 && cd context/child/rev-1 && echo rev > agent && echo " + child.Name + " > session").OK()
	return parent, child
}

// refused fails the test unless a script fails with what the shell says of an errno.
func refused(t *testing.T, s *harness.Session, script, says string) {
	t.Helper()
	if r := s.Bash(script); r.Code == 0 || !strings.Contains(r.Stderr, says) {
		t.Errorf("%s: ended with %d and %q, want %q", script, r.Code, r.Stderr, says)
	}
}
