package runner

import (
	"os"
	"strings"
	"testing"
	"time"
)

// What a command wrote before it ended is read, though nobody came to read it until the wait for those who still have the pipe is over.
func TestWhatLiesInThePipeIsRead(t *testing.T) {
	for _, x := range []struct {
		max  int
		tail bool
		want string
	}{{10, false, "abcdef"}, {3, true, "def"}, {3, false, "abcd"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := &capture{w: w, r: r, max: x.max, tail: x.tail, full: make(chan struct{}), done: make(chan struct{})}
		if _, err := w.WriteString("abcdef"); err != nil {
			t.Fatal(err)
		}
		if err := r.SetReadDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		c.read()
		if got := string(c.take()); got != x.want {
			t.Errorf("at most %d bytes, the last ones: %t: %q, want %q", x.max, x.tail, got, x.want)
		}
		w.Close()
	}
}

// A process outside that goes on writing is not waited for.
func TestWhoGoesOnWritingIsNotWaitedFor(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &capture{w: w, r: r, max: 1 << 30, full: make(chan struct{}), done: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := w.WriteString(strings.Repeat("x", 4096)); err != nil {
				return
			}
		}
	}()
	r.SetReadDeadline(time.Now())
	c.read()
	c.take()
	w.Close()
	<-ended
}
