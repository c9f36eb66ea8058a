package tend

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What was put a moment ago is named by no entry yet.
func TestAClockThatIsSetMakesNothingOld(t *testing.T) {
	r := newRig(t, t.TempDir(), "a")
	a := r.nodes[0]
	r.must(a.append("one"))
	name := r.put("put, and not named yet")
	r.round()
	for _, jump := range []time.Duration{time.Hour, -time.Hour, 365 * 24 * time.Hour, -time.Hour, 56 * 365 * 24 * time.Hour} {
		r.now = r.now.Add(jump)
		r.later(2 * time.Hour) // the next slow look
		if report := r.round(); report.Parked+report.Collected+report.Ended > 0 {
			t.Fatalf("set by %v: %+v", jump, report)
		}
		r.newTender()
		if report := r.round(); report.Parked+report.Collected+report.Ended > 0 {
			t.Fatalf("set by %v, and a new maintainer: %+v", jump, report)
		}
		r.now = r.now.Add(jump)
		r.reboot()
		if report := r.round(); report.Parked+report.Collected+report.Ended > 0 {
			t.Fatalf("set by %v while the machine was off: %+v", jump, report)
		}
	}
	r.now = r.now.Add(-365 * 24 * time.Hour)
	r.later(ParkAfter)
	if report := r.round(); report.Parked != 1 || report.Collected == 0 || r.has(name) {
		t.Errorf("a week later: %+v", report)
	}
	r.agree()
}

// The clock runs with the machine alone, whatever is done to the time of the day.
func TestTheClockRunsWithTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c clock
		day, up, boot := time.Unix(1_700_000_000, 0), time.Hour, "first"
		begin, ran := c.now(day, boot, up), time.Duration(0)
		for range rapid.IntRange(1, 30).Draw(t, "looks") {
			switch step := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "step")); rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				day, up, ran = day.Add(step), up+step, ran+step
			case 1:
				day = day.Add(2*step - time.Hour)
			case 2:
				day, up, boot = day.Add(step), step, boot+"+"
			}
			if got := c.now(day, boot, up).Sub(begin); got != ran {
				t.Fatalf("it says %v after %v", got, ran)
			}
		}
	})
	boot, up := uptime()
	again, later := uptime()
	if boot == "" || boot != again || later < up || up <= 0 {
		t.Errorf("this machine is in the run %q since %v, then in %q since %v", boot, up, again, later)
	}
}
