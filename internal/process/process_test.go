package process

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// session makes an active session of a process.
func session(t *testing.T, home, name string, id ID) (dir string) {
	t.Helper()
	dir = filepath.Join(home, ctxabi.SessionDir, name)
	err := os.MkdirAll(dir, 0o700)
	for name, text := range map[string]string{ctxabi.StateFile: "active\n", ctxabi.CwdFile: "/work\n"} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	n := noteOf(dir)
	n.Process = id
	b, e := json.Marshal(n)
	if err = errors.Join(err, e, os.MkdirAll(notesDirs()[0], 0o700)); err == nil {
		err = os.WriteFile(filepath.Join(notesDirs()[0], n.name()), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReusedPidIsAnotherProcess(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	home := t.TempDir()
	self := starters()[0]
	own := session(t, home, "own", self)
	reused, elsewhere, rebooted := self, self, self
	reused.Start += "0"
	elsewhere.Host, elsewhere.Boot = "elsewhere", "elsewhere"
	rebooted.Boot = "before"
	session(t, home, "reused", reused)
	session(t, home, "elsewhere", elsewhere)
	session(t, home, "rebooted", rebooted)
	states := map[string]string{"own": active, "reused": idle, "elsewhere": active, "rebooted": idle}
	for name, want := range states {
		if got := State(filepath.Join(home, ctxabi.SessionDir, name)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if found := Find(home, "/work"); !slices.Equal(found, []string{own}) {
		t.Errorf("found %v", found)
	}
	if found := Find(home, "/"); found != nil {
		t.Errorf("found elsewhere: %v", found)
	}
	for name, want := range states {
		if b, err := os.ReadFile(filepath.Join(home, ctxabi.SessionDir, name, ctxabi.StateFile)); err != nil || string(b) != want+"\n" {
			t.Errorf("the file of %s has %q, want %s", name, b, want)
		}
	}
}

// A process that was killed counts as ended before its parent has waited for it.
func TestKilledProcessHasEnded(t *testing.T) {
	c := exec.Command("/bin/cat")
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	id := identify(c.Process.Pid)
	if _, _, id.Start, err = stat(id.PID); err != nil || id.ended() {
		t.Fatalf("it runs: %v", err)
	}
	c.Process.Kill()
	c.Wait()
	if !id.ended() {
		t.Error("it has not ended")
	}
}
