package tend

import (
	"crypto/rand"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// clock is the time by which a maintainer measures how long something was so. It begins with the time of the day,
// and goes on with the machine: what is done to the time of the day meanwhile does not move it, nor does it run while
// the machine is off. So a clock that is set never makes anything old.
type clock struct {
	At   time.Time     `json:"at"`   // zero: it has not begun
	Boot string        `json:"boot"` // the run of the machine in which it was At
	Up   time.Duration `json:"up"`   // how long the machine had run then
}

// now moves the clock on and returns it. day is the time of the day, up how long the machine has run since it
// was started, which is the run boot of it.
func (c *clock) now(day time.Time, boot string, up time.Duration) time.Time {
	switch {
	case c.At.IsZero():
		c.At = day
	case c.Boot == boot && up > c.Up:
		c.At = c.At.Add(up - c.Up)
	}
	c.Boot, c.Up = boot, up
	return c.At
}

// uptime returns a name of the present run of this machine, and how long it has run. Without a name of the run it
// returns one that nobody has returned before.
func uptime() (boot string, up time.Duration) {
	var t unix.Timespec
	failed := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if failed != nil || err != nil {
		return rand.Text(), time.Duration(t.Nano())
	}
	return strings.TrimSpace(string(id)), time.Duration(t.Nano())
}
