package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// gapWriter appends as README describes, whether a mount is there or not, until the file $END exists. It prints the number
// of each record that was acknowledged.
const gapWriter = `for ((i = 1; ; i++)); do
	[ -e "$END" ] && exit
	mkdir -p "$S" 2> /dev/null && echo '{"role":"user","content":"record '$i'"}' 2> /dev/null >> "$S/messages.jsonl" && echo $i
done 2> /dev/null`

// A writer that made directories in the moment of a restart got success for each record, which went into the directory
// below the mount, and the daemon never started again.
func TestRestartKeepsStrayRecords(t *testing.T) {
	rounds := suite.Pick(t, 2, 20)
	users := []uint32{harness.Self()}
	if harness.Self() == 0 {
		users = append(users, harness.KnownUser(t, "nobody"))
	}
	for _, uid := range users {
		for _, how := range []string{"stop", "kill", "kill and clear"} {
			t.Run(fmt.Sprintf("%s as %d", how, uid), func(t *testing.T) {
				for range rounds {
					restartUnderWriter(t, uid, how)
				}
			})
		}
	}
}

func restartUnderWriter(t *testing.T, uid uint32, how string) {
	m := harness.Start(t, harness.Options{NoStart: true, UID: uid, GID: uid})
	cli := func(args ...string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, Dir: "/", Argv: append([]string{harness.Binary(t)}, args...)})
	}
	mount := func() { cli("mount", "--store", m.Store, m.Dir).OK() }
	mount()
	defer cli("umount", "--force", m.Dir)

	end, session1 := m.Dir+".end", fmt.Sprintf("home/%d/agent/a/session/s", uid)
	out, err := os.Create(filepath.Join(t.TempDir(), "acked"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	writer := m.Command(ctx, harness.Client{UID: uid, Dir: "/", Argv: []string{"bash", "-c", gapWriter},
		Env: []string{"END=" + end, "S=" + filepath.Join(m.Dir, session1)}})
	writer.Stdout = out
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	acked := func() []string { return strings.Fields(read(t, out.Name())) }
	more := func(n int) {
		begin := len(acked())
		harness.Eventually(t, "records to be acknowledged", func() bool { return len(acked()) >= begin+n })
	}
	more(20)
	if how == "stop" {
		cli("umount", "--stop", m.Dir).OK()
	} else {
		var d daemon.Info
		if err := json.Unmarshal([]byte(read(t, filepath.Join(m.Store, session.DaemonFile))), &d); err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(d.PID, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := daemon.WaitForExit(d.PID, harness.Patience); err != nil {
			t.Fatal(err)
		}
		if how == "kill and clear" {
			cli("umount", "--dead", m.Dir).OK()
		}
	}
	mount()
	more(20)
	if err := os.WriteFile(end, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	writer.Wait()

	importStrays(t, m, uid)
	found := map[string]int{}
	logs, err := filepath.Glob(filepath.Join(m.Store, filepath.Dir(session1), "*/messages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		for line := range strings.Lines(read(t, log)) {
			var r struct{ Content string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Errorf("%s: %q: %v", log, line, err)
			}
			found[strings.TrimPrefix(r.Content, "record ")]++
		}
	}
	for _, n := range acked() {
		if found[n] != 1 {
			t.Errorf("record %s was acknowledged, and is there %d times", n, found[n])
		}
	}
	was := 0o755
	cli("umount", m.Dir).OK()
	if fi, err := os.Stat(m.Dir); err != nil || int(fi.Mode().Perm()) != was {
		t.Errorf("after an unmount the mountpoint has mode %v, %v", fi.Mode(), err)
	}
	if err := os.Remove(m.Dir); err != nil {
		t.Errorf("after an unmount: %v", err)
	}
}

// importStrays types what ctxfs doctor says about records that were moved to the store, until it names none.
func importStrays(t *testing.T, m *harness.Mount, uid uint32) {
	t.Helper()
	for {
		r := m.Run(t, harness.Client{UID: uid, Dir: "/", Argv: []string{harness.Binary(t), "doctor", "--json", "--store", m.Store, m.Dir}})
		var findings []struct{ Check, Text, Remedy string }
		if err := json.Unmarshal([]byte(r.Stdout), &findings); err != nil {
			t.Fatalf("doctor: %v\n%s", err, r.Stderr)
		}
		strays := 0
		for _, f := range findings {
			if f.Check != "strays" {
				continue
			}
			strays++
			m.Run(t, harness.Client{UID: uid, Dir: "/", Argv: []string{"sh", "-c", f.Remedy}, Env: []string{"PATH=" + harness.UserPath(t)}}).OK()
		}
		if strays == 0 {
			return
		}
		t.Logf("%d sessions were imported", strays)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
