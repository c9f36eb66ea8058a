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

// Options are how a machine's server is run.
type Options struct {
	Program string // path of ctxfs-server; if empty, it is looked for beside this program and in PATH
	Unsafe  bool   // go on with a cluster that does not keep what it must
	NoHeal  bool   // replicas of this server are not repaired
	// ScrubEvery is how long after a scrub the next one begins; 0: none does.
	ScrubEvery time.Duration
}

// stopTime is how long a server may take to end by itself.
const stopTime = time.Minute

// pause is what is to be done while the server does not run.
type pause struct {
	do   func() error
	done chan error
}

// Serve runs the server of a machine, and a keeper beside it, until ctx is done. It returns an error if there
// is no program, if the server cannot be started, or if it ends on its own.
func Serve(ctx context.Context, m member.Machine, o Options, log io.Writer) error {
	program, err := serverProgram(o.Program)
	if err != nil {
		return err
	}
	server, err := startServer(m, program, log)
	if err != nil {
		return err
	}
	keeping, stop := context.WithCancel(ctx)
	kept := make(chan struct{})
	changed, pauses := make(chan struct{}, 1), make(chan pause)
	k := Keeper{
		Machine: m, Unsafe: o.Unsafe, ScrubEvery: o.ScrubEvery, Changed: func() {
			select {
			case changed <- struct{}{}:
			default: // it is to be told already
			}
		},
		Log: func(s string) { fmt.Fprintln(log, time.Now().UTC().Format(time.RFC3339), "ctxfs cluster:", s) },
	}
	if !o.NoHeal {
		k.Pause = func(do func() error) error {
			p := pause{do, make(chan error, 1)}
			select {
			case pauses <- p:
				return <-p.done
			case <-keeping.Done():
				return keeping.Err()
			}
		}
	}
	go func() { k.Run(keeping); close(kept) }()
	defer func() { stop(); <-kept }()
	for {
		select {
		case err := <-server.ended:
			return errors.Join(errors.New("the server has ended on its own; its last lines above say why"), err)
		case <-changed:
			server.signal(syscall.SIGHUP)
		case p := <-pauses:
			server.stop()
			done := p.do()
			if server, err = startServer(m, program, log); err != nil {
				p.done <- err
				return err
			}
			p.done <- done
		case <-ctx.Done():
			stop()
			<-kept
			return server.stop()
		}
	}
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

// stop ends the server, and returns the error with which it ends.
func (p serverProcess) stop() error {
	p.signal(syscall.SIGTERM)
	select {
	case err := <-p.ended:
		return err
	case <-time.After(stopTime): // it does not want to
		p.signal(syscall.SIGKILL)
		return <-p.ended
	}
}

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
