package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/source"
)

// runEnd is what a run came to.
type runEnd struct {
	source.Output
	err error
}

// running begins a run and returns when the command has made the file ready in its directory.
func running(t *testing.T, c *Client, ctx context.Context, uid int, cmd source.Command) <-chan runEnd {
	t.Helper()
	done := make(chan runEnd, 1)
	go func() {
		o, err := c.Run(ctx, uint32(uid), uint32(uid), cmd)
		done <- runEnd{o, err}
	}()
	until(t, "the command runs", func() bool { _, err := os.Stat(filepath.Join(cmd.Dir, "ready")); return err == nil })
	return done
}

func TestCancelEndsAll(t *testing.T) {
	for _, plain := range []bool{false, true} {
		if plain && os.Getuid() != 0 {
			continue // covered by the other users' tests where root runs them
		}
		c, uid := start(t), someUser()
		c.plain = plain
		dir := home(t, uid)
		cmd, mark := marked(dir, `trap '' TERM; (setsid sleep 1000 &); : >ready; sleep 1000`)
		ctx, cancel := context.WithCancel(t.Context())
		done := running(t, c, ctx, uid, cmd)
		cancel()
		if r := <-done; r.err != nil || r.Failed != reasonCancelled {
			t.Errorf("%+v", r)
		}
		if left := bearers(mark); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if o, err := c.Run(ctx, uint32(uid), uint32(uid), cmd); err != nil || o.Failed != reasonCancelled {
			t.Errorf("cancelled before: %+v, %v", o, err)
		}
	}
}

// Without a namespace a command can stop what watches over it; then the broker ends both.
func TestStoppedShimIsKilled(t *testing.T) {
	c, uid := start(t), os.Getuid()
	c.plain = true
	dir := home(t, uid)
	cmd, mark := marked(dir, `(setsid sleep 1000 &); kill -STOP $PPID; : >ready; sleep 1000`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := running(t, c, ctx, uid, cmd)
	cancel()
	if r := <-done; r.err != nil || r.Failed != reasonCancelled {
		t.Errorf("%+v", r)
	}
	if left := bearers(mark); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCloseEndsRuns(t *testing.T) {
	for _, plain := range []bool{false, true} {
		c, uid := start(t), someUser()
		c.plain = plain
		dir := home(t, uid)
		cmd, mark := marked(dir, `(setsid sleep 1000 &); : >ready; sleep 1000`)
		done := running(t, c, t.Context(), uid, cmd)
		begun := time.Now()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if left := bearers(mark); len(left) > 0 && time.Since(begun) < closeTime {
			t.Errorf("left behind: %v", left)
		}
		until(t, "nothing is left", func() bool { return len(bearers(mark)) == 0 })
		if r := <-done; !errors.Is(r.err, ctxabi.ErrIO) {
			t.Errorf("%v", r.err)
		}
	}
}

// deadly is a daemon that runs a command, and says when it does.
func deadly(plain bool, dir, mark string, uid uint32) {
	c, err := Start(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	c.plain = plain
	fmt.Println("ready")
	c.Run(context.Background(), uid, uid, source.Command{
		Args: []string{"sh", "-c", `(setsid sleep 1000 &); : >ready; sleep 1000`}, Env: []string{searchPath, mark}, Dir: dir, Timeout: long,
	})
}

func TestKilledDaemonLeavesNoCommand(t *testing.T) {
	for _, plain := range []string{"false", "true"} {
		uid := someUser()
		dir := home(t, uid)
		_, mark := marked(dir, "")
		cmd := exec.Command("/proc/self/exe", "deadly", plain, dir, mark, fmt.Sprint(uid))
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the command runs", func() bool { _, err := os.Stat(filepath.Join(dir, "ready")); return err == nil })
		until(t, "both run", func() bool { return len(bearers(mark)) >= 2 }) // one that begins its program has no environment for a moment
		below := children(cmd.Process.Pid)
		if len(below) != 1 {
			t.Errorf("below it are %v", below)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		until(t, "nothing is left", func() bool { return len(bearers(mark)) == 0 })
		ended(t, below[0])
	}
}

func TestBrokerThatDiesEndsRuns(t *testing.T) {
	c, uid := start(t), someUser()
	dir := home(t, uid)
	cmd, mark := marked(dir, `(setsid sleep 1000 &); : >ready; sleep 1000`)
	done := running(t, c, t.Context(), uid, cmd)
	if err := syscall.Kill(c.broker(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r := <-done; !errors.Is(r.err, ctxabi.ErrIO) {
		t.Errorf("%v", r.err)
	}
	until(t, "nothing is left", func() bool { return len(bearers(mark)) == 0 })
	next := source.Command{Args: []string{"echo", "x"}, Env: []string{searchPath}, Dir: dir, Timeout: long}
	until(t, "the next broker runs commands", func() bool {
		o, err := c.Run(t.Context(), uint32(uid), uint32(uid), next)
		return err == nil && string(o.Data) == "x\n"
	})
}

// daemon is a process that uses a runner, says the runner's pid, and waits for its end.
func daemon(path string) {
	c, err := Start(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	if _, err := c.ReadFiles(context.Background(), uint32(os.Getuid()), 0, []string{path}, limit, long); err != nil {
		panic(err)
	}
	fmt.Println(c.broker())
	io.ReadAll(os.Stdin)
}

func TestKilledDaemonLeavesNoProcess(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "daemon", write(t, filepath.Join(t.TempDir(), "f"), "x"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var broker int
	if _, err := fmt.Fscan(stdout, &broker); err != nil {
		t.Fatal(err)
	}
	readers := children(broker)
	if len(readers) != 1 {
		t.Errorf("readers: %v, want one", readers)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for _, pid := range append(readers, broker) {
		ended(t, pid)
	}
}
