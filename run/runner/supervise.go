package runner

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Pauses before a broker restart. The pause doubles while each broker ends within longestRestart
// after its start.
const (
	firstRestart   = 100 * time.Millisecond
	longestRestart = 10 * time.Second
)

// brokerProcess is a running broker with its control socket.
type brokerProcess struct {
	control *net.UnixConn
	proc    *exec.Cmd
	born    time.Time
	exited  chan struct{} // closed when it is reaped
	err     error         // how it ended; set before exited closes
}

// startBroker starts a broker as the user of this process. It returns an error if it cannot create
// the socket or start the process.
func startBroker() (*brokerProcess, error) {
	cmd, ours, theirs, err := command(roleBroker, unix.SOCK_SEQPACKET)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	control, err := unixConn(ours)
	if err != nil {
		return nil, err
	}
	// A separate session protects the broker from a Ctrl-C in the daemon's terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		control.Close()
		return nil, err
	}
	p := &brokerProcess{control: control, proc: cmd, born: time.Now(), exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// supervise serves the broker and restarts it after an unexpected end, until Close.
func (c *Client) supervise(p *brokerProcess) {
	defer c.tasks.Done()
	pause := time.Duration(0)
	for times := 1; ; times++ {
		c.attend(p)
		p.control.Close()
		if c.isClosed() {
			<-p.exited // Close kills it where it does not end
			return
		}
		p.proc.Process.Kill() // it may live although it does not answer
		<-p.exited
		life := time.Since(p.born)
		c.ended(times, cmp.Or(p.err, errors.New("it exited")))
		for p = nil; p == nil; life = 0 {
			pause = nextRestart(pause, life)
			select {
			case <-c.closing:
				return
			case <-time.After(pause):
			}
			next, err := startBroker()
			if err != nil {
				c.ended(times, fmt.Errorf("it cannot be started again: %w", err))
				continue
			}
			p = next
		}
		c.mu.Lock()
		c.brokerProcess, c.broken = p, false
		closed := c.closed
		c.mu.Unlock()
		if closed { // Close ended the one before
			p.proc.Process.Kill()
		}
	}
}

// nextRestart returns the pause before the next restart. pause is the previous pause and life the
// lifetime of the broker after it.
func nextRestart(pause, life time.Duration) time.Duration {
	if life > longestRestart {
		return firstRestart
	}
	return max(firstRestart, min(2*pause, longestRestart))
}

func (c *Client) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}
