package harness

import (
	"encoding/json"
	"net"
	"os"
	"strings"
)

// PairEnv names the socket of a program that runs a cluster. Where it is set, each mount of a test is one of two
// of an empty cluster, and every other client of a test uses the other one: what it is told of the mountpoint
// names the other's, and what it prints, the first one's.
const PairEnv = "CTXFS_TEST_PAIR"

// pair makes m one of two mounts, if tests run so.
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
	var args [2][]string
	if err := json.NewDecoder(c).Decode(&args); err != nil {
		m.tb.Fatalf("no cluster: %v", err)
	}
	o := m.o
	o.twin, o.Store, o.Wrap = true, "", nil
	o.Args = append(args[1], o.Args...)
	m.o.Args = append(args[0], m.o.Args...)
	m.twin = Start(m.tb, o)
}

// toTwin returns c as a client of the other mount if it is its turn.
func (m *Mount) toTwin(c Client) Client {
	if m.twin == nil || m.clients.Add(1)%2 != 0 {
		return c
	}
	move := func(s string) string { return strings.ReplaceAll(s, m.Dir, m.twin.Dir) }
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
	return strings.ReplaceAll(s, m.twin.Dir, m.Dir)
}
