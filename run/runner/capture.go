package runner

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// capture reads what a command writes to one pipe, all of it, and keeps the
// first max+1 bytes or the last max.
type capture struct {
	w    *os.File // for the command
	r    *os.File
	max  int
	tail bool
	full chan struct{} // closed when more than max came
	done chan struct{} // closed when data is complete
	data []byte
	over bool // full is closed
}

func (s *shim) capture(max int, tail bool) (*capture, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// So that the user may open /dev/stdout.
	if os.Geteuid() == 0 {
		if err := w.Chown(int(s.who.UID), int(s.who.GID)); err != nil {
			return nil, err
		}
	}
	c := &capture{w: w, r: r, max: max, tail: tail, full: make(chan struct{}), done: make(chan struct{})}
	go c.read()
	return c, nil
}

func (c *capture) read() {
	defer close(c.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := c.r.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.drain(buf)
		}
		if err != nil {
			return
		}
		c.keep(buf[:n])
	}
}

func (c *capture) keep(b []byte) {
	c.data = append(c.data, b...)
	switch {
	case len(c.data) <= c.max:
	case c.tail:
		c.data = append(c.data[:0], c.data[len(c.data)-c.max:]...)
	default:
		c.data = c.data[:c.max+1]
		if !c.over {
			c.over = true
			close(c.full)
		}
	}
}

// drain reads what lies in the pipe already: on a busy machine nobody may have come to read it yet.
func (c *capture) drain(buf []byte) {
	raw, err := c.r.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		left, _ := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0) // somebody may go on writing
		for left > 0 {
			n, err := unix.Read(int(fd), buf[:min(left, len(buf))])
			if isInterrupted(err) {
				continue
			}
			if n <= 0 {
				return
			}
			c.keep(buf[:n])
			left -= n
		}
	})
}

// take returns what was written, when all that had the pipe is gone. One that
// gave it away to a process outside is not waited for, but what was written by then is read.
func (c *capture) take() []byte {
	select {
	case <-c.done:
	case <-time.After(time.Second):
		c.r.SetReadDeadline(time.Now())
		<-c.done
	}
	c.r.Close()
	return c.data
}
