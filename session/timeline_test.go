package session_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// mergeModel finds in a few lines where tool events stand.
type mergeModel struct {
	messages, events int
	named            map[string]int // id → last message that names it
	calls            map[string]int // id → last event that makes it
	tools            []ctxabi.EventPlace
	callOf           []int32
}

func (m *mergeModel) message(ids ...string) {
	m.messages++
	for _, id := range ids {
		m.named[id] = m.messages
	}
}

func (m *mergeModel) event(tool, result bool, id string) {
	m.events++
	if !tool {
		return
	}
	if line := m.named[id]; id == "" || line == 0 || line <= m.messages-1024 {
		m.tools = append(m.tools, ctxabi.EventPlace{Line: int32(m.events), After: int32(m.messages)})
		call := 0
		if result {
			call = m.calls[id]
		}
		m.callOf = append(m.callOf, int32(call))
	}
	if !result && id != "" {
		m.calls[id] = m.events
	}
}

// However the logs grew and whoever looked in between, tool events stand where they arrived.
func TestTimelineIsTheSameHoweverItCameAbout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sessiontest.New()
		open := func() (*session.Store, *session.Session) {
			s, err := session.Open("/store", session.Options{VFS: d, Now: d.Now})
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Session(refA)
			if err != nil {
				if x, err = s.Create(refA, home); err != nil {
					t.Fatal(err)
				}
			}
			return s, x
		}
		s, x := open()
		defer func() { s.Close() }()
		m := &mergeModel{named: map[string]int{}, calls: map[string]int{}}
		add := func(l *log.Log, format string, args ...any) {
			if _, err := l.Append(ctx, log.Batch{Data: fmt.Appendf(nil, format+"\n", args...)}); err != nil {
				t.Fatal(err)
			}
		}
		ids := rapid.SampledFrom([]string{"a", "b", "c", ""})
		var last []ctxabi.EventPlace
		look := func() *log.Timeline {
			tl, err := x.Timeline()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(tl.Tools, m.tools) || tl.Settled != tl.Events.Size() || tl.Messages.Len() != m.messages || tl.Events.Len() != m.events {
				t.Fatalf("%+v with %d and %d, want %+v with %d and %d", tl.Tools, tl.Messages.Len(), tl.Events.Len(), m.tools, m.messages, m.events)
			}
			for i, e := range tl.Tools {
				if got := tl.Events.At(int(e.Line)); got.CallOf != m.callOf[i] || got.Role != ctxabi.Event || got.Events != 0 {
					t.Fatalf("event %d: %+v, want the call at %d", e.Line, got, m.callOf[i])
				}
			}
			if len(last) > len(tl.Tools) || !slices.Equal(last, tl.Tools[:len(last)]) {
				t.Fatal("an event moved")
			}
			last = tl.Tools
			return tl
		}
		t.Repeat(map[string]func(*rapid.T){
			"call": func(t *rapid.T) {
				a, b := ids.Draw(t, "id"), ids.Draw(t, "id")
				add(x.Messages(), `{"role":"assistant","content":"","tool_calls":[{"id":%q,"name":"f"},{"id":%q,"name":"g"}]}`, a, b)
				m.message(a, b)
			},
			"result": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				if rapid.Bool().Draw(t, "part") {
					add(x.Messages(), `{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}`, id)
				} else {
					add(x.Messages(), `{"role":"tool","tool_call_id":%q,"content":"x"}`, id)
				}
				m.message(id)
			},
			"words": func(t *rapid.T) {
				n := rapid.SampledFrom([]int{1, 3, 1022, 1023, 1024}).Draw(t, "n")
				add(x.Messages(), "%s", strings.TrimSuffix(strings.Repeat(a1+"\n", n), "\n"))
				for range n {
					m.message()
				}
			},
			"event call": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				add(x.Events(), `{"type":"tool_call","id":%q,"name":"f"}`, id)
				m.event(true, false, id)
			},
			"event result": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				add(x.Events(), `{"type":"tool_result","id":"ev","call_id":%q,"output":"x"}`, id)
				if id == "" {
					id = "ev"
				}
				m.event(true, true, id)
			},
			"other event": func(t *rapid.T) {
				add(x.Events(), `{"type":"usage","id":"a"}`)
				m.event(false, false, "")
			},
			"look": func(t *rapid.T) { look() },
			"events": func(t *rapid.T) {
				if _, err := x.Events().Index(); err != nil {
					t.Fatal(err)
				}
			},
			"restart": func(t *rapid.T) {
				s.Close()
				s, x = open()
			},
			"idle": func(t *rapid.T) {
				for range session.IdleTicks {
					session.Tick(s)
				}
			},
		})
		look()
		if problems, err := check.Verify(ctx, s, refA); err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
	})
}

// Each snapshot that is taken while both logs are written begins the next one.
func TestTimelineOnlyGrowsAtItsEnd(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	const records = 400
	var wg sync.WaitGroup
	looked := make(chan struct{}) // closed when a snapshot was taken of some records of each log
	write := func(l *log.Log, rec string) {
		wg.Go(func() {
			for i := range records {
				if i == records/2 {
					<-looked
				}
				if _, err := l.Append(ctx, log.Batch{Data: []byte(rec + "\n")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		write(x.Messages(), a1)
		write(x.Events(), `{"type":"tool_call","name":"f"}`)
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	var last log.Timeline
	snapshots, seen := 0, false
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		tl, err := x.Timeline()
		if err != nil {
			t.Fatal(err)
		}
		if last.Messages != nil {
			n := len(last.Tools)
			if n > len(tl.Tools) || !slices.Equal(last.Tools, tl.Tools[:n]) {
				t.Fatal("an event that had a place has another one")
			}
			if n < len(tl.Tools) && int(tl.Tools[n].After) < last.Messages.Len() {
				t.Fatalf("event %d came to stand behind message %d when %d messages were there", tl.Tools[n].Line, tl.Tools[n].After, last.Messages.Len())
			}
		}
		last = *tl
		if snapshots++; !seen && last.Messages.Len() > 0 && len(last.Tools) > 0 {
			seen = true
			close(looked)
		}
	}
	if len(last.Tools) != 2*records || last.Messages.Len() != 2*records || !seen {
		t.Errorf("%d events, %d messages in %d snapshots", len(last.Tools), last.Messages.Len(), snapshots)
	}
	s.Close()
	again, err := openStore(t, s.Dir(), session.Options{}).Session(refA)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := again.Timeline()
	if err != nil || !slices.Equal(tl.Tools, last.Tools) {
		t.Errorf("another order after a restart (%v)", err)
	}
}

func TestHeadAt(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	l := x.Events()
	seed, _ := l.Head()
	heads := map[int64]string{0: seed}
	for i := range 300 {
		n, err := l.Append(ctx, log.Batch{Data: fmt.Appendf(nil, `{"type":"x%d"}`+"\n", i)})
		if err != nil {
			t.Fatal(err)
		}
		heads[n], _ = l.Head()
	}
	for size, want := range heads {
		if got, err := l.HeadAt(size); got != want || err != nil {
			t.Errorf("at %d: %s, want %s (%v)", size, got, want, err)
		}
	}
	if len(heads) != 301 {
		t.Errorf("%d heads", len(heads))
	}
}
