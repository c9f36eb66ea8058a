package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	systemd "github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/cli"
)

// readyEnv names the descriptor on which a background daemon tells how its
// start went: readyWord and what its user must know, or the sentence that its user is to read.
const readyEnv = "CTXFS_READY_FD"

const readyWord = "ready"

// daemonise starts this program again as a daemon in a session of its own and
// returns once its mount answers, or with the error that kept it from doing so.
func daemonise(f mountFlags) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := exec.Command(self, f.args()...)
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr // until the daemon has opened its log
	cmd.ExtraFiles = []*os.File{w}
	cmd.Env = append(os.Environ(), readyEnv+"=3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return err
	}
	said, err := io.ReadAll(r) // ends when the daemon closes its side, or dies
	if err != nil {
		return err
	}
	if notice, ready := strings.CutPrefix(string(said), readyWord); ready {
		fmt.Fprint(os.Stderr, notice)
		return cmd.Process.Release()
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if len(said) > 0 && errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "ctxfs:", strings.TrimSpace(string(said)))
		return cli.Silent{Code: exit.ExitCode()}
	}
	return fmt.Errorf("the daemon ended before it could say why (%v); see %s", err, f.log)
}

// readyFile is the daemon's end of that pipe; nil in the foreground.
type readyFile struct{ file *os.File }

func readyPipe() *readyFile {
	fd, err := strconv.Atoi(os.Getenv(readyEnv))
	if err != nil {
		return &readyFile{}
	}
	os.Unsetenv(readyEnv)
	unix.CloseOnExec(fd) // the runner must not hold it open
	return &readyFile{os.NewFile(uintptr(fd), "ready")}
}

// open reports whether somebody still waits for an answer.
func (r *readyFile) open() bool { return r.file != nil }

// done sends the answer: readyWord, or what went wrong.
func (r *readyFile) done(answer string) {
	io.WriteString(r.file, answer)
	r.file.Close()
	r.file = nil
}

// succeeded reports to the parent process that the daemon serves its mount. notice is "" or lines
// for the user. If no parent waits, succeeded prints serving and the pid to out instead.
func (r *readyFile) succeeded(out io.Writer, serving, notice string) {
	if r.open() {
		r.done(readyWord + notice)
		return
	}
	fmt.Fprintf(out, "%s (pid %d)\n", serving, os.Getpid())
}

// failed answers with err in words where somebody waits, and returns an error that is not told again. The error is
// also logged when the log has begun. Where nobody waits, or err is nil, it does nothing and returns err.
func (r *readyFile) failed(err error, log *slog.Logger, logged bool) error {
	if err == nil || !r.open() {
		return err
	}
	if logged {
		log.Error("cannot serve", "error", err)
	}
	r.done(cli.Message(err))
	return cli.Silent{Code: cli.ExitCode(cli.Failed(err))}
}

// volumeSocket is the name under which systemd hands over the socket of the
// volume plugin: FileDescriptorName= in dist/systemd/ctxfs-volume.socket.
const volumeSocket = "ctxfs-volume"

// takeSockets returns what systemd passed (sd_listen_fds(3)). The first call
// takes it out of the environment and keeps it from what this process starts,
// so serve makes it before the runner starts.
var takeSockets = sync.OnceValue(func() []*os.File { return activation.Files(true) })

// passedSocket returns the listening socket that systemd passed under name, nil
// when there is none. Each is given away once: the caller closes it. Closing
// it leaves its name in the filesystem, which is systemd's.
func passedSocket(name string) (net.Listener, error) {
	for _, f := range takeSockets() {
		if f.Name() != name || f.Fd() == ^uintptr(0) { // another one, or one that was given away
			continue
		}
		l, err := net.FileListener(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("the socket %s that systemd passed is not a listening socket: %w", name, err)
		}
		return l, nil
	}
	return nil, nil
}

// tellSystemd sends the state of the service to systemd where that started it (sd_notify(3)).
func tellSystemd(log *slog.Logger, state, status string) {
	if _, err := systemd.SdNotify(false, state+"\nSTATUS="+status); err != nil {
		log.Warn("systemd does not take the state of this service", "state", state, "error", err)
	}
}
