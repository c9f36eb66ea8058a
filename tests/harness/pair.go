package harness

import (
	"encoding/json"
	"net"
	"os"
	"strings"
)

// PairEnv names the socket of a program that runs a cluster. Where it is set, each mount of a test is one of an
// empty cluster. The program answers with a list of the flags of each mount: with those of two, every other client of
// a test uses a second mount. What it is told of the mountpoint and of the store names the other's, and what it
// prints, the first one's.
const PairEnv = "CTXFS_TEST_PAIR"

// pair makes m a mount of a cluster, and one of two, if tests run so.
func (m *Mount) pair() {
	name := os.Getenv(PairEnv)
	if name == "" || m.o.twin {
		return
	}
	m.tb.Helper()
	c, err := net.Dial("unix", name)
	if err != nil {
		m.tb.Fatalf("no cluster: %v", err)
	}
	defer c.Close()
	var args [][]string
	if err := json.NewDecoder(c).Decode(&args); err != nil || len(args) == 0 {
		m.tb.Fatalf("no cluster: %v", err)
	}
	o := m.o
	m.o.Args = append(args[0], m.o.Args...)
	if len(args) > 1 {
		o.twin, o.Store, o.Wrap = true, "", nil
		o.Args = append(args[1], o.Args...)
		m.twin = Start(m.tb, o)
	}
}

// toTwin returns c as a client of the other mount if it is its turn.
func (m *Mount) toTwin(c Client) Client {
	if m.twin == nil || m.clients.Add(1)%2 != 0 {
		return c
	}
	move := strings.NewReplacer(m.Dir, m.twin.Dir, m.Store, m.twin.Store).Replace
	each := func(list []string) (moved []string) {
		for _, s := range list {
			moved = append(moved, move(s))
		}
		return moved
	}
	c.Argv, c.Env, c.Dir = each(c.Argv), each(c.Env), move(c.Dir)
	return c
}

// fromTwin returns what a client printed as one of this mount prints it.
func (m *Mount) fromTwin(s string) string {
	if m.twin == nil {
		return s
	}
	return strings.NewReplacer(m.twin.Dir, m.Dir, m.twin.Store, m.Store).Replace(s)
}
