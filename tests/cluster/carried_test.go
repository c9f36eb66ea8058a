package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A session is taken out of the cluster, goes on where it is alone, and is brought back: with the same id and
// bytes, and with what it got meanwhile.
func TestASessionLeavesAClusterAndComesBack(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	hosts := mounts.Start(t, c, "a", "b")
	a, b := hosts[0], hosts[1]
	x := a.Session(t, harness.Self(), "coder", "s1")
	say := func(s *harness.Session, text string) {
		t.Helper()
		if err := appendMessage(s, text); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(harness.Binary(t), args...).CombinedOutput(); err != nil {
			t.Fatalf("ctxfs %v: %v\n%s", args, err, out)
		}
	}
	say(x, "one")
	x.Write(ctxabi.BudgetFile, "8000\n")
	there := b.Await(t, x)
	say(there, "two")
	sameOnBoth(t, x, there)
	head, pack := attribute("user.ctx.head", x.Path(ctxabi.MessagesFile)), x.Read(ctxabi.PackFile)

	run("session", "withdraw", x.Dir)
	harness.Eventually(t, "the session to be gone elsewhere", func() bool {
		_, err := os.Stat(filepath.Join(there.Dir, ctxabi.MessagesFile))
		return os.IsNotExist(err)
	})
	if now := attribute("user.ctx.head", x.Path(ctxabi.MessagesFile)); now != head || x.Read(ctxabi.PackFile) != pack {
		t.Errorf("the session was %s and is %s, or its pack is another one", head, now)
	}
	say(x, "three, alone")

	run("session", "publish", x.Dir)
	there = b.Await(t, x)
	sameOnBoth(t, x, there)
	say(there, "four")
	say(x, "five")
	sameOnBoth(t, x, there)
	want := messageOf("one") + messageOf("two") + messageOf("three, alone") + messageOf("four") + messageOf("five")
	if got := x.Read(ctxabi.MessagesFile); got != want {
		t.Errorf("the session has\n%s\nnot\n%s", got, want)
	}

	// A host that has read it and does not look meanwhile was told ever after that it is not there.
	run("session", "withdraw", x.Dir)
	run("session", "publish", x.Dir)
	harness.Eventually(t, "the session on a host that had read it", func() bool {
		got, err := os.ReadFile(there.Path(ctxabi.MessagesFile))
		return err == nil && string(got) == want
	})
	say(there, "six")
	sameOnBoth(t, x, there)
}
