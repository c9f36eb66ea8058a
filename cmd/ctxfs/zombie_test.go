package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// The helper holds a store and has a mount, as a daemon does, and waits for itself: it opens a file of its own mount, takes the
// request and never answers it. A SIGKILL makes it what a daemon is that is killed while it opens one.
func init() {
	harness.Helper("waits-for-itself", func(args []string) int {
		store, point := args[0], args[1]
		if err := waitForItself(store, point); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	})
}

func waitForItself(store, point string) error {
	s, err := session.Open(store, session.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := (daemon.Info{PID: os.Getpid(), Mountpoint: point, Store: store}).Write(); err != nil {
		return err
	}
	fd, request, err := mountWithoutAnswers(store, point)
	if err != nil {
		return err
	}
	go os.Open(filepath.Join(point, "own"))
	for {
		n, err := unix.Read(fd, request)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(request[40:n], []byte("own\x00")) { // behind fuse_in_header
			fmt.Println("waits")
			select {}
		}
		refusal := make([]byte, 16) // somebody else looks at the mount
		binary.NativeEndian.PutUint32(refusal, uint32(len(refusal)))
		binary.NativeEndian.PutUint32(refusal[4:], ^uint32(0)) // -1, EPERM
		copy(refusal[8:], request[8:16])
		unix.Write(fd, refusal)
	}
}

// mountWithoutAnswers mounts a ctxfs on which nothing but the kernel's first question is answered.
func mountWithoutAnswers(store, point string) (fd int, request []byte, err error) {
	fd, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fd, nil, err
	}
	if err := unix.Mount(store, point, mounts.Type, unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd)); err != nil {
		return fd, nil, err
	}
	request = make([]byte, 1<<17)
	if _, err := unix.Read(fd, request); err != nil {
		return fd, nil, err
	}
	answer := make([]byte, 16+64) // fuse_out_header, fuse_init_out
	binary.NativeEndian.PutUint32(answer, uint32(len(answer)))
	copy(answer[8:16], request[8:16]) // the request's number
	for i, v := range []uint32{7, 31, 1 << 16, 0, 0, 1 << 16} {
		binary.NativeEndian.PutUint32(answer[16+4*i:], v)
	}
	if _, err := unix.Write(fd, answer); err != nil {
		return fd, nil, err
	}
	return fd, request, nil
}

// killedInItsMount makes a daemon that was killed and hangs in its own mount. ended is closed when it is gone.
func killedInItsMount(t *testing.T, store, point string) (pid int, ended <-chan struct{}) {
	t.Helper()
	cmd := harness.HelperProcess("waits-for-itself", store, point)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid = cmd.Process.Pid
	t.Cleanup(func() {
		harness.AbortConnection(point)
		unix.Unmount(point, unix.MNT_DETACH)
	})
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "waits\n" {
		t.Fatalf("the helper says %q, %v", said, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { cmd.Wait(); close(gone) }()
	harness.Eventually(t, "the daemon to be killed", func() bool { return mounts.Ended(pid) })
	select {
	case <-gone:
		t.Fatal("the daemon has ended although it waits for itself")
	default:
	}
	return pid, gone
}

// ctxfs runs the binary; one that hangs is killed and fails the test.
func ctxfs(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Binary(t), args...)
	cmd.WaitDelay = time.Second
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &b, &b, "/"
	cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("ctxfs %q hangs: %s", args, &b)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// A daemon that was killed and hangs in the kernel kept its mount and the lock of its store: nothing but umount -f by hand helped.
func TestTheMountAndTheStoreOfADaemonThatHangsInTheKernelAreFreed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	for _, c := range []struct {
		name string
		do   func(store, point, other string) []string
	}{
		{"umount", func(_, point, _ string) []string { return []string{"umount", point} }},
		{"umount --dead", func(_, point, _ string) []string { return []string{"umount", "--dead", point} }},
		{"umount --force", func(_, point, _ string) []string { return []string{"umount", "--force", point} }},
		{"mount at the same place", func(store, point, _ string) []string { return []string{"mount", "--store", store, point} }},
		{"mount at another place", func(store, _, other string) []string { return []string{"mount", "--store", store, other} }},
		{"another store at the same place", func(store, point, _ string) []string { return []string{"mount", "--store", store + "2", point} }},
		{"doctor --repair", func(store, _, _ string) []string { return []string{"doctor", "--repair", "--store", store} }},
		{"doctor --repair MOUNTPOINT", func(_, point, _ string) []string { return []string{"doctor", "--repair", point} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Cleanup(func() { endDaemons(dir) })
			store, point, other := filepath.Join(dir, "store"), filepath.Join(dir, "point"), filepath.Join(dir, "other")
			for _, d := range []string{point, other} {
				if err := os.Mkdir(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			pid, gone := killedInItsMount(t, store, point)
			named := fmt.Sprintf("its daemon (pid %d) was killed and hangs in the kernel", pid)
			if said, _ := ctxfs(t, "doctor", "--store", store); !strings.Contains(said, named) || !strings.Contains(said, "ctxfs umount "+point) {
				t.Errorf("doctor does not name it:\n%s", said)
			}
			if said, code := ctxfs(t, c.do(store, point, other)...); code != cli.ExitOK {
				t.Fatalf("it ends with %d: %s", code, said)
			}
			<-gone
			for _, p := range []string{point, other} {
				if i, rest, ok := mounts.At(p); ok && rest == "" {
					if m, err := daemon.Ask(i); err != nil {
						t.Errorf("%+v: %v", m, err)
					}
					if said, code := ctxfs(t, "umount", p); code != cli.ExitOK {
						t.Errorf("umount ends with %d: %s", code, said)
					}
				}
			}
			if pid, held := daemon.LockHolder(store); held {
				t.Errorf("the store is held by %d", pid)
			}
		})
	}
}
