package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// lossOf is a session whose journal loses something on all three servers.
type lossOf struct {
	name   string
	damage func(file string) error // to the file of its entries, on each server
	goesOn bool                    // hosts that have read the journal append to it
	stream string                  // in which the journal is, and that of no other lossOf
	here   *harness.Session
	want   []string // its messages, as they were acknowledged
}

// mountOf returns a mount of a machine that is not started.
func mountOf(t *testing.T, m *servers.Made, machine string) *mounts.Host {
	t.Helper()
	return &mounts.Host{Name: machine, Mount: harness.Start(t, harness.Options{
		NoStart: true, Args: []string{"--cluster=" + m.Machine(t, machine).Dir(), "--cluster-timeout=3s"},
	})}
}

// lengths returns how many entries streams have.
func lengths(t *testing.T, k *nats.Engine) map[string]uint64 {
	t.Helper()
	s, err := k.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]uint64{}
	for _, x := range s.Streams {
		for _, r := range x.Replicas {
			n[x.Name] = max(n[x.Name], r.Entries)
		}
	}
	return n
}

// fillApart makes a session for each loss, in streams of their own, and fills them through a host.
func fillApart(t *testing.T, k *nats.Engine, a *mounts.Host, losses []*lossOf) {
	t.Helper()
	taken := map[string]bool{}
	for _, l := range losses {
		for try := 0; l.stream == ""; try++ {
			before := lengths(t, k)
			s := a.Session(t, harness.Self(), "coder", fmt.Sprint(l.name, try))
			mustAppend(t, s, l.name)
			for name, n := range lengths(t, k) {
				if strings.HasPrefix(name, "CTXJ_") && n > before[name] && !taken[name] {
					l.stream, l.here, l.want = name, s, []string{l.name}
				}
			}
			taken[l.stream] = true
		}
	}
	for _, l := range losses {
		for i := range 40 {
			l.want = append(l.want, fmt.Sprintf("%s %d %s", l.name, i, strings.Repeat("x", 3000)))
			mustAppend(t, l.here, l.want[len(l.want)-1])
		}
	}
}

// without looks at a session on a host that has not read the journal before the loss: it shows what stands before that,
// or refuses to show anything.
func (l *lossOf) without(t *testing.T, b *mounts.Host) {
	t.Helper()
	got, err := texts(b.Of(l.here))
	if len(got) >= len(l.want) || !slices.Equal(got, l.want[:len(got)]) {
		t.Errorf("%s: a host that never read it shows %d messages of %d, or others", l.name, len(got), len(l.want))
	}
	t.Logf("%s: a host that never read it shows %d messages of %d, %v", l.name, len(got), len(l.want), err)
}

// refused tries to append through a host, and fails the test if that succeeds.
func (l *lossOf) refused(t *testing.T, s *harness.Session, host string) {
	t.Helper()
	if err := appendTo(s, "behind the loss"); !errors.Is(err, unix.EIO) && !errors.Is(err, unix.ETIMEDOUT) && !errors.Is(err, unix.ENOENT) {
		t.Errorf("%s: an append on a host that %s: %v", l.name, host, err)
	}
}

// An entry in the midst of a journal, its last one, and half of a journal are gone on all three servers. A host that has
// read them goes on to show all; one that has not shows what stands before, and takes nothing. Each journal is named with
// its remedy, and the remedy has all of it.
func TestAllServersLoseAnEntry(t *testing.T) {
	suite.Matrix(t, slow)
	t.Parallel()
	m := servers.Make(t)
	all := []int{0, 1, 2}
	m.Serve(t, all, "--scrub-every=0")
	whole(t, m, "n1")
	a, b := mountOf(t, m, "n1"), mountOf(t, m, "n2")
	mounts.Run(t, a)
	k := maintain(t, m, "n1")
	losses := []*lossOf{{name: "middle", damage: flip(0.5), goesOn: true}, {name: "last", damage: flip(0.99)}, {name: "half", damage: cut(0.5)}}
	fillApart(t, k, a, losses)
	backup := filepath.Join(t.TempDir(), "backup")
	m.Run(t, "n1", "backup", "--to", backup)
	for _, i := range all {
		m.Shut(i)
	}
	for _, i := range all {
		for _, l := range losses {
			file, err := largest(filepath.Join(m.Store(i), "jetstream", "CTX", "streams", l.stream), "*.blk")
			if err == nil {
				err = l.damage(file)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	m.Serve(t, all, "--scrub-every=0")
	d := servers.Make(t) // for the backup; they come up meanwhile
	d.Serve(t, all)
	mounts.Run(t, b)
	for _, l := range losses {
		shows(t, l.here, l.want...)
		l.without(t, b)
		problem := ""
		for _, p := range named(t, m, "n1", l.stream+": entry").Problems {
			if strings.HasPrefix(p, l.stream) {
				problem = p
			}
		}
		t.Logf("%s: %s", l.name, problem)
		if !strings.Contains(problem, "on all servers") || !strings.Contains(problem, "ctxfs cluster restore") {
			t.Errorf("%s is named without a remedy: %s", l.name, problem)
		}
	}
	out, err := m.Try("n3", "scrub")
	for _, l := range losses {
		if err == nil || !strings.Contains(out, l.stream+": entry") {
			t.Errorf("a scrub does not name %s: %v\n%s", l.stream, err, out)
		}
		l.refused(t, b.Of(l.here), "never read it")
		if !l.goesOn {
			l.refused(t, l.here, "has read it")
		} else if err := appendTo(l.here, "goes on"); err != nil {
			t.Errorf("%s: an append on a host that has read it: %v", l.name, err)
		}
		if got, err := texts(l.here); err != nil || len(got) < len(l.want) || !slices.Equal(got[:len(l.want)], l.want) || !l.goesOn && len(got) > len(l.want) {
			t.Errorf("%s: a host that has read it shows %d messages of %d: %v", l.name, len(got), len(l.want), err)
		}
		l.without(t, b)
		if reasons := l.here.Read(ctxabi.ErrorsFile); !l.goesOn && !strings.Contains(reasons, "the cluster has lost entries of this journal") {
			t.Errorf("%s: the reason of the refusal is %q", l.name, reasons)
		}
	}
	a.Stop()
	b.Stop()
	for _, i := range all {
		m.Shut(i)
	}

	whole(t, d, "n1")
	d.Run(t, "n1", "restore", "--from", backup)
	if out := d.Run(t, "n1", "heal", "--from", backup); !strings.Contains(out, "Put the objects again of backup 1:") || !strings.Contains(out, "All replicas are whole") {
		t.Errorf("objects that are there were put again:\n%s", out)
	}
	c := mountOf(t, d, "n1")
	mounts.Run(t, c)
	for _, l := range losses {
		s := c.Await(t, l.here)
		shows(t, s, l.want...)
		mustAppend(t, s, "goes on")
	}
}
