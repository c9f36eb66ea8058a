package crash

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// seed returns the seed of a test's random choices and prints it.
func seed(tb testing.TB) int {
	tb.Helper()
	tb.Logf("CTXFS_SEED=%d", suite.Seed())
	return int(suite.Seed())
}

// The daemon is killed at a random moment under eight writers, again and
// again, sometimes once more while it recovers. A plain mount repairs the
// mountpoint, and every acknowledged record is there, once, whole.
func TestKillLoop(t *testing.T) {
	rounds := suite.Pick(t, 5, 10)
	if suite.Soak() {
		rounds = 50
	}
	sd := seed(t)
	rnd := rand.New(rand.NewPCG(uint64(sd), 1))
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "killed")
	l := newLoad(t, s, 8, sd)
	prefix := map[string][32]byte{} // of the logs as they were at the last check
	length := map[string]int{}
	for round := range rounds {
		waitReader, wait := l.startReader(), l.start(0, 20)
		if round == 0 { // that something is written at all is no question of the machine's speed
			harness.Eventually(t, "a record to be acknowledged", func() bool { return len(readJournal(t, l.journal(0)).acked) > 0 })
		}
		time.Sleep(time.Duration(rnd.IntN(400)) * time.Millisecond) // the random moment
		m.Kill()
		wait()
		waitReader()
		if rnd.IntN(3) == 0 {
			killWhileStarting(t, m, time.Duration(rnd.IntN(60))*time.Millisecond)
		}
		m.Restart()

		known := l.journals()
		acked := 0
		for _, name := range []string{"messages.jsonl", "events.jsonl"} {
			data := []byte(s.Read(name))
			if n := length[name]; len(data) < n || sha256.Sum256(data[:n]) != prefix[name] && n > 0 {
				t.Errorf("round %d: %s has changed below its old length", round, name)
			}
			length[name], prefix[name] = len(data), sha256.Sum256(data)
			acked += checkAcked(t, name, check(t, name, data, known), known)
		}
		t.Logf("round %d: %d acknowledged records, %d KiB of messages", round, acked, length["messages.jsonl"]>>10)
		if t.Failed() {
			for w, k := range known {
				t.Logf("writer %d: %d begun, %d acknowledged, ended with %q", w, k.tried, len(k.acked), k.failure)
			}
			t.FailNow()
		}
	}
	if length["messages.jsonl"] == 0 {
		t.Fatal("the writers wrote nothing")
	}

	// The session is as good as any other: it packs, it takes records, it verifies.
	var built struct{ Tokens int }
	if err := json.Unmarshal([]byte(s.Read("context/pack.json")), &built); err != nil || built.Tokens == 0 {
		t.Errorf("pack.json after %d kills: %v, %d tokens", rounds, err, built.Tokens)
	}
	wait := l.start(5, 0)
	wait()
	checkLogs(t, s.Dir, l.journals())
	m.Stop()
	checkLogs(t, s.InStore(), l.journals())
	verify(t, m)
}

// killWhileStarting starts a daemon and kills it after d, wherever it is by then.
func killWhileStarting(t *testing.T, m *harness.Mount, d time.Duration) {
	t.Helper()
	cmd := exec.Command(harness.Binary(t), "mount", "--store", m.Store, "--foreground", m.Dir)
	cmd.Dir = "/"
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(d) // the random moment
	unix.Kill(cmd.Process.Pid, unix.SIGKILL)
	cmd.Wait() // and of everybody who holds its output: a runner process ends with its daemon
	if s := cmd.ProcessState; s.Exited() {
		t.Fatalf("the daemon ended by itself with %v:\n%s", s, out.String())
	}
}

// verify runs ctxfs verify on the stopped store.
func verify(t *testing.T, m *harness.Mount) {
	t.Helper()
	cmd := exec.Command(harness.Binary(t), "verify", "--store", m.Store)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("ctxfs verify: %v\n%s", err, out)
	}
	t.Logf("ctxfs verify: %s", out)
}
