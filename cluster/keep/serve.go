package keep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/ctxfs/ctxfs/cluster/member"
)

// Serve runs the server of a machine, and a keeper beside it, until ctx is done. program is the path of
// ctxfs-server; if empty, it is looked for beside this program and in PATH. It returns an error if there is
// none, if the server cannot be started, or if it ends on its own.
func Serve(ctx context.Context, m member.Machine, program string, unsafe bool, log io.Writer) error {
	program, err := serverProgram(program)
	if err != nil {
		return err
	}
	server, err := startServer(m, program, log)
	if err != nil {
		return err
	}
	keeping, stop := context.WithCancel(ctx)
	kept := make(chan struct{})
	k := Keeper{
		Machine: m, Unsafe: unsafe, Changed: func() { server.signal(syscall.SIGHUP) },
		Log: func(s string) { fmt.Fprintln(log, time.Now().UTC().Format(time.RFC3339), "ctxfs cluster:", s) },
	}
	go func() { k.Run(keeping); close(kept) }()
	defer func() { stop(); <-kept }()
	select {
	case err := <-server.ended:
		return errors.Join(errors.New("the server has ended on its own; its last lines above say why"), err)
	case <-ctx.Done():
	}
	stop()
	<-kept
	server.signal(syscall.SIGTERM)
	return <-server.ended
}

// serverProgram returns the path of ctxfs-server.
func serverProgram(name string) (string, error) {
	if name != "" {
		return filepath.Abs(name)
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "ctxfs-server")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	found, err := exec.LookPath("ctxfs-server")
	if err != nil {
		return "", errors.New("there is no ctxfs-server beside ctxfs or in PATH; make server builds it")
	}
	return filepath.Abs(found)
}

// serverProcess is a server that runs.
type serverProcess struct {
	cmd   *exec.Cmd
	ended chan error
}

func (p serverProcess) signal(s syscall.Signal) { p.cmd.Process.Signal(s) }

// startServer starts ctxfs-server. It ends when this process does, however that is.
func startServer(m member.Machine, program string, log io.Writer) (serverProcess, error) {
	p := serverProcess{exec.Command(program, "--config", m.ServerFile()), make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true} // a terminal's SIGINT comes to us alone
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel's "parent" of a process is the thread that started it
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.ended <- p.cmd.Wait()
		}
	}()
	return p, <-started
}
