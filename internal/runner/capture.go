package runner

import (
	"os"
	"time"
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
	for over := false; ; {
		n, err := c.r.Read(buf)
		if err != nil {
			return
		}
		c.data = append(c.data, buf[:n]...)
		if len(c.data) <= c.max {
			continue
		}
		if c.tail {
			c.data = append(c.data[:0], c.data[len(c.data)-c.max:]...)
			continue
		}
		c.data = c.data[:c.max+1]
		if !over {
			over = true
			close(c.full)
		}
	}
}

// take gives what was written, when all that had the pipe is gone. One that
// gave it away to a process outside is not waited for.
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
