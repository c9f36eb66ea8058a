package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/keep"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Made is a cluster that ctxfs cluster init, join and serve have made on this machine. Nothing runs at
// first.
type Made struct {
	Dir   string
	nodes [size]*node
	bin   string
}

// Make makes a cluster of servers n1, n2 and n3 that lasts until the test ends; n1 is where it is made. args
// are more arguments of init. The tokens of machines that did not join are in Dir/tokens.
func Make(tb testing.TB, args ...string) *Made {
	tb.Helper()
	m := &Made{Dir: tb.TempDir(), bin: harness.Binary(tb)}
	ports := freePorts(tb, 2*size)
	args = append([]string{"init", "--tokens", m.path("tokens")}, args...)
	for i := range size {
		_, port, _ := strings.Cut(ports[2*i], ":")
		_, route, _ := strings.Cut(ports[2*i+1], ":")
		n := &node{name: fmt.Sprint("n", i+1)}
		n.dir = m.path(n.name)
		n.command = []string{m.bin, "cluster", "serve", "--dir", n.dir, "--server-program", Binary(tb)}
		args = append(args, "--server", fmt.Sprintf("%s=127.0.0.1:%s:%s", n.name, port, route))
		m.nodes[i] = n
	}
	tb.Cleanup(func() {
		for _, n := range m.nodes {
			n.end(syscall.SIGTERM)
			if data, err := os.ReadFile(n.log()); err == nil && tb.Failed() {
				tb.Logf("%s:\n%s", n.name, data[max(0, len(data)-1500):])
			}
		}
	})
	m.Run(tb, "n1", args...)
	m.Join(tb, "n2", "n3")
	return m
}

func (m *Made) path(name string) string { return filepath.Join(m.Dir, name) }

// Token returns the file with the token of a machine.
func (m *Made) Token(name string) string { return filepath.Join(m.path("tokens"), name+".token") }

// Join makes machines of their tokens.
func (m *Made) Join(tb testing.TB, names ...string) {
	tb.Helper()
	for _, name := range names {
		m.Run(tb, name, "join", "--token-file", m.Token(name))
	}
}

// Try runs a verb of ctxfs cluster on a machine and returns what it prints, and the error of one that fails.
func (m *Made) Try(machine string, args ...string) (string, error) {
	cmd := exec.Command(m.bin, append([]string{"cluster", args[0], "--dir", m.path(machine)}, args[1:]...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Run is Try of a verb that must succeed.
func (m *Made) Run(tb testing.TB, machine string, args ...string) string {
	tb.Helper()
	out, err := m.Try(machine, args...)
	if err != nil {
		tb.Fatalf("ctxfs cluster %v on %s: %v\n%s", args, machine, err, out)
	}
	return out
}

// Serve starts ctxfs cluster serve on servers, 0 to 2, with more arguments.
func (m *Made) Serve(tb testing.TB, which []int, args ...string) {
	tb.Helper()
	for _, i := range which {
		n := *m.nodes[i]
		n.command = append(n.command[:len(n.command):len(n.command)], args...)
		n.start(tb)
		m.nodes[i].cmd, m.nodes[i].ended = n.cmd, n.ended
	}
}

// Kill ends a ctxfs cluster serve as the kernel does that is out of memory, and Shut as an operator does.
func (m *Made) Kill(i int) { m.nodes[i].end(syscall.SIGKILL) }

// Shut ends a ctxfs cluster serve as an operator does.
func (m *Made) Shut(i int) { m.nodes[i].end(syscall.SIGTERM) }

// Store returns the directory of what a server has.
func (m *Made) Store(i int) string { return filepath.Join(m.nodes[i].dir, "store") }

// Log returns the file of what a ctxfs cluster serve prints.
func (m *Made) Log(i int) string { return m.nodes[i].log() }

// Machine returns a machine.
func (m *Made) Machine(tb testing.TB, name string) member.Machine {
	tb.Helper()
	x, err := member.Read(m.path(name))
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// Status returns what ctxfs cluster status prints on a machine.
func (m *Made) Status(tb testing.TB, machine string) (s keep.Status) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.bin, "cluster", "status", "--dir", m.path(machine), "--json")
	out, err := cmd.Output()
	if bad := json.Unmarshal(out, &s); bad != nil {
		tb.Fatalf("ctxfs cluster status on %s: %v, %v\n%s", machine, err, bad, out)
	}
	if (err != nil) != (len(s.Problems) > 0) {
		tb.Fatalf("ctxfs cluster status on %s: %v with problems %q", machine, err, s.Problems)
	}
	return s
}
