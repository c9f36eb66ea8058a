package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// attribute returns an attribute of a file, "" if it has none of that name.
func attribute(name, of string) string {
	var b [256]byte
	n, err := unix.Getxattr(of, name, b[:])
	if err != nil {
		return ""
	}
	return string(b[:n])
}

// messageOf returns a message.
func messageOf(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`+"\n", text) }

// appendMessage appends a message to a session with one write.
func appendMessage(s *harness.Session, text string) error {
	f, err := os.OpenFile(s.Path(ctxabi.MessagesFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(messageOf(text))
	return errors.Join(err, f.Close())
}

// sameOnBoth waits until two hosts show the same records and settings of a session, and checks that their packs are the same.
func sameOnBoth(t *testing.T, x, y *harness.Session) {
	t.Helper()
	read := func(s *harness.Session, name string) string {
		b, err := os.ReadFile(s.Path(name))
		return fmt.Sprint(string(b), err)
	}
	for _, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile, ctxabi.StateFile, ctxabi.BudgetFile, ctxabi.PackFile} {
		harness.Eventually(t, "an equal "+name, func() bool { return read(x, name) == read(y, name) })
	}
	if a, b := attribute("user.ctx.head", x.Path(ctxabi.MessagesFile)), attribute("user.ctx.head", y.Path(ctxabi.MessagesFile)); a != b || a == "" {
		t.Errorf("the heads are %q and %q", a, b)
	}
}

// An agent works on one host and goes on with another one, also when the first one dies.
func TestAnAgentMovesBetweenHosts(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	hosts := mounts.Start(t, c, "a", "b")
	a, b := hosts[0], hosts[1]
	s := a.Session(t, harness.Self(), "coder", "s1")
	var want []string
	say := func(s *harness.Session, text string) {
		t.Helper()
		if err := appendMessage(s, text); err != nil {
			t.Fatal(err)
		}
		want = append(want, messageOf(text))
	}
	say(s, "one")
	s.Write(ctxabi.BudgetFile, "8000\n")
	there := b.Await(t, s)
	sameOnBoth(t, s, there)
	say(there, "two")
	there.Write(ctxabi.StateFile, "active\n")
	sameOnBoth(t, s, there)
	a.Kill()
	say(there, "three") // at once
	say(there, "four")
	a.Again(t)
	sameOnBoth(t, s, there)
	say(s, "five")
	sameOnBoth(t, s, there)
	if got := there.Read(ctxabi.MessagesFile); got != strings.Join(want, "") {
		t.Errorf("it has\n%swant\n%s", got, strings.Join(want, ""))
	}
	namesOverHosts(t, a, b, s)
}

// namesOverHosts makes, renames and removes names on one host and looks for them on the other one.
func namesOverHosts(t *testing.T, a, b *mounts.Host, s *harness.Session) {
	sessions := filepath.Dir(s.Dir)
	var all sync.WaitGroup
	var mu sync.Mutex
	made := map[string]int{}
	for i := range 5 {
		for _, dir := range []string{sessions, b.In(sessions, a.Mount)} {
			all.Go(func() {
				name := fmt.Sprint("race-", i)
				err := os.Mkdir(filepath.Join(dir, name), 0o700)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					made[name]++
				} else if !errors.Is(err, syscall.EEXIST) {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	all.Wait()
	for i := range 5 {
		if name := fmt.Sprint("race-", i); made[name] != 1 {
			t.Errorf("%s was made %d times", name, made[name])
		}
	}
	names := func(dir string) (list []string) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	if err := os.Rename(filepath.Join(sessions, "race-0"), filepath.Join(sessions, "renamed")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(filepath.Join(sessions, "race-1"), ctxabi.RemoveAttr, []byte("race-1"), 0); err != nil {
		t.Fatal(err)
	}
	there := b.In(sessions, a.Mount)
	harness.Eventually(t, "names on the other host", func() bool {
		return slices.Equal(names(there), []string{"race-2", "race-3", "race-4", "renamed", "s1"})
	})
	harness.Eventually(t, "the end of a name", func() bool {
		_, err := os.Stat(filepath.Join(there, "race-1"))
		return errors.Is(err, syscall.ENOENT)
	})
	agents := filepath.Dir(filepath.Dir(sessions))
	if err := os.Mkdir(filepath.Join(agents, "short"), 0o700); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "an agent on the other host", func() bool { return slices.Contains(names(b.In(agents, a.Mount)), "short") })
	if err := os.Remove(filepath.Join(b.In(agents, a.Mount), "short")); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the end of an agent", func() bool { return !slices.Contains(names(agents), "short") })
}

// Two of three servers are down: nothing is taken, all can be read and says that it may be old, and later all is well.
func TestReadsGoOnWithoutAQuorum(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	a := mounts.New(t, c, "a", harness.Options{}, "--cluster-timeout=3s")
	b := mounts.New(t, c, "b", harness.Options{}, "--cluster-timeout=3s")
	mounts.Run(t, a, b)
	s := a.Session(t, harness.Self(), "coder", "s1")
	if err := appendMessage(s, "one"); err != nil {
		t.Fatal(err)
	}
	there := b.Await(t, s)
	sameOnBoth(t, s, there)
	c.Kill(0, 1)
	var unknown []string
	harness.Eventually(t, "ETIMEDOUT", func() bool {
		text := fmt.Sprint("while they are down ", len(unknown))
		switch err := appendMessage(s, text); {
		case errors.Is(err, syscall.ETIMEDOUT):
			return true
		case err == nil:
			t.Error("an append was acknowledged without a quorum")
			return true
		case errors.Is(err, syscall.EIO):
			unknown = append(unknown, messageOf(text)) // it may have been taken before
		default:
			t.Errorf("an append without a quorum: %v", err)
		}
		return false
	})
	for _, x := range []*harness.Session{s, there} {
		if got := x.Read(ctxabi.MessagesFile); got != messageOf("one") {
			t.Errorf("it has %q", got)
		}
		if got := x.Read(ctxabi.PackFile); !strings.Contains(got, "one") {
			t.Errorf("the pack is %q", got)
		}
		harness.Eventually(t, "user.ctx.behind", func() bool {
			return attribute("user.ctx.behind", x.Path(ctxabi.MessagesFile)) != "" && attribute("user.ctx.behind", x.Dir) != ""
		})
	}
	c.Restart(t, 0, 1)
	harness.Eventually(t, "an append", func() bool { return appendMessage(there, "afterwards") == nil })
	sameOnBoth(t, s, there)
	got := there.Read(ctxabi.MessagesFile)
	for _, text := range append(unknown, messageOf("one"), messageOf("afterwards")) {
		least := 0
		if text == messageOf("one") || text == messageOf("afterwards") {
			least = 1
		}
		if n := strings.Count(got, text); n < least || n > 1 && text != messageOf("afterwards") { // which was perhaps tried twice
			t.Errorf("%q stands there %d times", text, n)
		}
	}
	harness.Eventually(t, "no user.ctx.behind", func() bool { return attribute("user.ctx.behind", s.Path(ctxabi.MessagesFile)) == "" })
}
