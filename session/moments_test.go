package session_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// How many messages there were at a time is the same however often and in what order it is asked, while the log grows,
// over a clock that goes back, and after a restart.
func TestMessagesAtATimeAreThoseUntilTheFirstLaterOne(t *testing.T) {
	defer session.SetMarkEvery(600)() // two or three rows
	suite.Check(t, 20, func(rt *rapid.T) {
		clock := int64(1_760_000_000_000_000_000)
		var at []int64
		dir := t.TempDir()
		o := session.Options{Now: func() time.Time { return time.Unix(0, clock) }}
		s, err := session.Open(dir+"/store", o)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { s.Close() }()
		x, err := s.Create(refA, home)
		if err != nil {
			rt.Fatal(err)
		}
		want := func(when int64) (n int) {
			for n < len(at) && at[n] <= when {
				n++
			}
			return n
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				for range rapid.IntRange(1, 10).Draw(rt, "records") {
					clock += rapid.Int64Range(-3, 9).Draw(rt, "ns")
					if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(msg("user", fmt.Sprint(len(at)))), Writer: root}); err != nil {
						rt.Fatal(err)
					}
					at = append(at, clock)
				}
			},
			"ask": func(rt *rapid.T) {
				when := clock + rapid.Int64Range(-100, 5).Draw(rt, "when")
				if n, err := x.MessagesAt(time.Unix(0, when)); err != nil || n != want(when) {
					rt.Fatalf("%d messages, %v; want %d", n, err, want(when))
				}
			},
			"open again": func(rt *rapid.T) {
				s.Close()
				if s, err = session.Open(dir+"/store", o); err != nil {
					rt.Fatal(err)
				}
				if x, err = s.Session(refA); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				for when, want := range map[time.Time]int{{}: 0, time.Unix(math.MaxInt64/1_000_000_000+1, 0): len(at)} { // beyond what ns can say
					if n, err := x.MessagesAt(when); err != nil || n != want {
						rt.Fatalf("at %v: %d messages, %v", when, n, err)
					}
				}
			},
		})
	})
}
