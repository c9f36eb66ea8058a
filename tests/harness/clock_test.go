package harness

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func init() {
	Helper("tell the time", func([]string) int { // the time of day, and how long it waited for the line that came in
		for in := bufio.NewReader(os.Stdin); ; {
			begin := time.Now()
			if _, err := in.ReadString('\n'); err != nil {
				return 0
			}
			now := time.Now()
			fmt.Println(now.Unix(), now.Sub(begin).Nanoseconds())
		}
	})
}

func TestAProcessHasAClockOfItsOwn(t *testing.T) {
	c := NewClock(t, time.Hour)
	m := fake(t, "")
	cmd := m.HelperCommand(t, t.Context(), "tell the time", Client{UID: Self()})
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := c.Start(cmd); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	for _, ahead := range []time.Duration{time.Hour, 0, -time.Hour, 25 * time.Hour} {
		c.Set(t, ahead)
		before := time.Now().Unix()
		fmt.Fprintln(in)
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var at, waited int64
		if _, err := fmt.Sscan(strings.TrimSpace(line), &at, &waited); err != nil {
			t.Fatal(err)
		}
		if at -= int64(ahead / time.Second); at < before || at > time.Now().Unix() {
			t.Errorf("%v ahead, it is %d s off", ahead, at-before)
		}
		if waited < 0 || waited > int64(time.Since(begin)) {
			t.Errorf("%v ahead, it has waited %v", ahead, time.Duration(waited))
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	c.Set(t, 0) // nobody has it
}
