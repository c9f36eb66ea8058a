package mounts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// State is what was found of the daemon of a mount.
type State string

const (
	Answers State = "answers"         // it answered
	Silent  State = "does not answer" // it runs, and gave no answer before the deadline
	Stopped State = "stopped"         // its process is stopped (SIGSTOP, a debugger) and can go on
	Zombie  State = "zombie"          // its process was ended and cannot go: it waits for something in the kernel
	Gone    State = "gone"            // it has ended; the kernel refuses everything in the mount
)

// Mount is a mount and what its daemon answered.
type Mount struct {
	Info
	State   State
	PID     int           // of the daemon; 0 if it is not known
	Version string        // of the daemon; "" if it did not say
	Within  time.Duration // how long it was waited for
}

// Owner returns the uid of who made the mount, -1 if the kernel does not tell.
func (i Info) Owner() int {
	uid, err := strconv.Atoi(i.User)
	if err != nil {
		return -1
	}
	return uid
}

// Trouble returns what is wrong with a mount and its daemon, as a sentence without a remedy; "" if it answers.
func (m Mount) Trouble() string {
	daemon := "its daemon"
	if m.PID > 0 {
		daemon = fmt.Sprintf("its daemon (pid %d)", m.PID)
	}
	switch m.State {
	case Silent:
		return fmt.Sprintf("the ctxfs at %s does not answer: %s runs, and gave no answer within %s", m.Point, daemon, m.Within)
	case Stopped:
		return fmt.Sprintf("the ctxfs at %s does not answer: %s is stopped", m.Point, daemon)
	case Zombie:
		return fmt.Sprintf("the ctxfs at %s does not answer: %s was killed and hangs in the kernel", m.Point, daemon)
	case Gone:
		return fmt.Sprintf("the ctxfs at %s does not answer: its daemon has ended", m.Point)
	}
	return ""
}

// Remedy returns what to type about Trouble; "" if it answers.
func (m Mount) Remedy() string {
	switch m.State {
	case Silent:
		return "wait, look into its log, or end it with: ctxfs umount --force " + m.Point
	case Stopped:
		if m.PID > 0 {
			return fmt.Sprintf("continue it with: kill -CONT %d   or end it with: ctxfs umount --force %s", m.PID, m.Point)
		}
		return "continue it, or end it with: ctxfs umount --force " + m.Point
	case Zombie, Gone:
		return "ctxfs umount " + m.Point
	}
	return ""
}

// SilentError is a mount that is needed and does not answer.
type SilentError struct{ Mount }

func (e SilentError) Error() string { return e.Trouble() + "; " + e.Remedy() }

// Asker asks daemons. Within bounds each answer.
type Asker struct {
	Within time.Duration
	// Touch makes the command of a child that calls [Touched] about a mount. It is started where the daemon has no
	// socket; with Both also where it answers on one, which says that the process runs, but not that the mount answers.
	Touch func(Info) *exec.Cmd
	Both  bool
}

// mostAtOnce is how many daemons are asked at the same time: each may cost a child.
const mostAtOnce = 32

// All asks the daemons of some mounts at once and returns them in the same order.
func (a Asker) All(ctx context.Context, infos []Info) []Mount {
	found := make([]Mount, len(infos))
	var wg sync.WaitGroup
	turn := make(chan struct{}, mostAtOnce)
	for n, i := range infos {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			found[n] = a.Ask(ctx, i)
		})
	}
	wg.Wait()
	return found
}

// Ask asks the daemon of a mount. It returns when there is an answer, when the daemon is known to be unable to give one, or
// at the deadline.
func (a Asker) Ask(ctx context.Context, i Info) Mount {
	ctx, cancel := context.WithTimeout(ctx, a.Within)
	defer cancel()
	m, asked := a.socket(ctx, Mount{Info: i, Within: a.Within})
	if !asked || m.State == Answers && a.Both {
		m.State = "" // what the child finds counts
		m = a.touch(ctx, m)
	}
	return m
}

// socket asks a daemon on its socket; ok is false where there is none, or one of somebody else.
func (a Asker) socket(ctx context.Context, m Mount) (_ Mount, ok bool) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socketName(m.Device, m.Source))
	if err != nil {
		m.State = Silent
		return m, late(ctx)
	}
	defer conn.Close()
	peer := peerOf(conn)
	if peer == nil || int(peer.Uid) != m.Owner() {
		return m, false
	}
	m.PID = int(peer.Pid)
	if m.State = unable(m.PID); m.State != "" {
		return m, true
	}
	if t, ok := ctx.Deadline(); ok {
		conn.SetReadDeadline(t)
	}
	defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })()
	said, err := io.ReadAll(io.LimitReader(conn, maxAnswer))
	var answer answer
	switch {
	case err == nil && json.Unmarshal(said, &answer) == nil && answer.Store == m.Source:
		m.State, m.Version = Answers, answer.Version
		return m, true
	case !late(ctx): // it ended meanwhile, or is the one of a mount that had this number before
		m.PID = 0
		return m, false
	}
	m.State = cmp.Or(unable(m.PID), Silent)
	return m, true
}

// late reports whether the time for an answer is over. What waits for the deadline by itself may see it before ctx does.
func late(ctx context.Context) bool {
	t, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(t)
}

func peerOf(conn net.Conn) (peer *unix.Ucred) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err == nil {
		raw.Control(func(fd uintptr) { peer, _ = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	}
	return peer
}

// touch has a child process touch a mount.
func (a Asker) touch(ctx context.Context, m Mount) Mount {
	r, w, err := os.Pipe()
	if err != nil {
		m.State = Silent
		return m
	}
	defer r.Close()
	cmd := a.Touch(m.Info)
	cmd.Stdout, cmd.Dir = w, "/"
	err = cmd.Start()
	w.Close()
	if err != nil {
		m.State = Silent
		return m
	}
	defer func() {
		cmd.Process.Kill()
		go cmd.Wait() // a child that hangs in the mount ends with the mount
	}()
	if t, ok := ctx.Deadline(); ok {
		r.SetReadDeadline(t)
	}
	defer context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Unix(1, 0)) })()
	var said []byte
	for buf := make([]byte, 64); ; {
		n, err := r.Read(buf)
		said = append(said, buf[:n]...)
		for {
			line, rest, whole := bytes.Cut(said, []byte("\n"))
			if !whole {
				break
			}
			said = rest
			word := string(line)
			if pid, err := strconv.Atoi(word); err == nil {
				m.PID = cmp.Or(pid, m.PID)
				if m.State = unable(m.PID); m.State != "" {
					return m
				}
			} else if s := State(word); s == Answers || s == Gone {
				m.State = s
				return m
			}
		}
		if err != nil {
			m.State = cmp.Or(unable(m.PID), Silent)
			return m
		}
	}
}

// Touched is what the child of [Asker.Touch] does: it prints the pid of the daemon, 0 if it is not known, then
// touches the mount, and prints what came of it. It returns the error of out.
func Touched(out io.Writer, pid int, dead func() bool) error {
	if _, err := fmt.Fprintln(out, pid); err != nil {
		return err
	}
	state := Answers
	if dead() {
		state = Gone
	}
	_, err := fmt.Fprintln(out, state)
	return err
}

// unable returns why the process pid cannot answer: Stopped or Zombie, "" if nothing keeps it from it, or it is not known.
func unable(pid int) State {
	if pid <= 0 {
		return ""
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	return stateOf(string(stat))
}

const (
	exiting = 0x4          // PF_EXITING of the kernel: the process only lets go of what it has
	killed  = 1 << (9 - 1) // SIGKILL is pending: it comes back from the kernel no more, but its first thread is not out of it yet
)

// stateOf reads /proc/PID/stat: pid (comm) state ppid pgrp session tty tpgid flags ..., of which the 31st are pending signals; comm may hold
// anything, and ends at the last parenthesis.
func stateOf(stat string) State {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 7 {
		return ""
	}
	flags, _ := strconv.ParseUint(f[6], 10, 64)
	var pending uint64
	if len(f) > 28 {
		pending, _ = strconv.ParseUint(f[28], 10, 64)
	}
	switch {
	case f[0] == "Z" || f[0] == "X" || flags&exiting != 0 || pending&killed != 0:
		return Zombie
	case f[0] == "T" || f[0] == "t":
		return Stopped
	}
	return ""
}

// Ended reports whether the process pid was ended and only waits for something in the kernel: it never answers again.
func Ended(pid int) bool { return unable(pid) == Zombie }
