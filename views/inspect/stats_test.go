package inspect

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session/blob"
)

// memory is a source with packs that were served.
type memory struct {
	Source
	served []blob.Row
	kept   map[string]string
	before func(event int) (int, bool)
}

func (m *memory) Served() ([]blob.Row, error) { return m.served, nil }

func (m *memory) ServedPack(id string) ([]byte, error) {
	if md, ok := m.kept[id]; ok {
		return []byte(md), nil
	}
	return nil, ctxabi.ErrNotFound
}

func (m *memory) Before(event int) (int, bool) {
	if m.before == nil {
		return 0, false
	}
	return m.before(event)
}

func stats(t *testing.T, h *History, o StatsOptions) *Stats {
	t.Helper()
	s, err := h.Stats(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStatsAddUp(t *testing.T) {
	d := newDesk(t)
	d.fill(130)
	h := d.look(3000)
	s := stats(t, h, StatsOptions{Points: 20})
	if len(s.Points) != 20 || s.Points[19].Messages != h.Len() || s.Messages != h.Len() || s.Budget != 3000 {
		t.Fatalf("%d points, the last %+v", len(s.Points), s.Points[len(s.Points)-1])
	}
	checkCalls(t, d, h, s, checkPoints(t, s))
	if last := d.at(h, h.Len()); len(s.Compactions) < last.Compactions/2 || s.Now.Compactions != last.Compactions {
		t.Errorf("%d epochs for %d compactions", len(s.Compactions), last.Compactions)
	}
	if len(s.Tools) != 3 {
		t.Fatalf("%+v", s.Tools)
	}
	for i, tool := range s.Tools {
		if tool.Name == "" || tool.Results == 0 || tool.Shown > tool.Whole || tool.InPack > tool.Results || (tool.Shown == 0) != (tool.InPack == 0) || i > 0 && tool.Whole > s.Tools[i-1].Whole {
			t.Errorf("%+v", tool)
		}
	}

	// Some calls stand for all.
	few := stats(t, h, StatsOptions{Points: 3, Calls: 7})
	if len(few.Calls) != 7 || !few.Cache.Sampled || few.Cache.All != len(s.Calls) || len(few.Points) != 3 {
		t.Errorf("%+v", few.Cache)
	}
	for _, c := range few.Calls {
		if want := s.Calls[indexOf(s.Calls, c.Record)]; c != want {
			t.Errorf("of a few: %+v, of all: %+v", c, want)
		}
	}
}

// checkPoints holds that points follow each other and that their sections add up. It returns how many calls they have.
func checkPoints(t *testing.T, s *Stats) (calls int) {
	t.Helper()
	for i, p := range s.Points {
		if i > 0 && p.Messages <= s.Points[i-1].Messages || p.Sections.Stable+p.Sections.Session+p.Sections.Journal+p.Sections.Footer != p.Tokens {
			t.Errorf("%+v", p)
		}
		calls += p.Calls
	}
	return calls
}

// checkCalls holds that each answer is a call, as one of inPoints, and that what a cache has of calls adds up.
func checkCalls(t *testing.T, d *desk, h *History, s *Stats, inPoints int) {
	t.Helper()
	assistants := 0
	for n := 2; n <= h.Len(); n++ {
		if h.Messages().At(n).Role == ctxabi.Assistant {
			assistants++
		}
	}
	if len(s.Calls) != assistants || s.Cache.Calls != assistants || s.Cache.All != assistants || inPoints != assistants || s.Cache.Sampled {
		t.Errorf("%d answers: %d calls, %d in points, %+v", assistants, len(s.Calls), inPoints, s.Cache)
	}
	sum := Cache{}
	for i, c := range s.Calls {
		p := d.at(h, c.Messages)
		if c.Cached+c.Written+c.Fresh != c.Tokens || c.Tokens != p.Tokens || c.Record != c.Messages+1 || min(c.Cached, c.Written, c.Fresh) < 0 {
			t.Errorf("%+v", c)
		}
		if i > 0 {
			before := d.at(h, s.Calls[i-1].Messages)
			front := p.counter.CountParts(before.Markdown[:before.PrefixBytes])
			if before.Epoch == p.Epoch && c.Cached != front || before.Epoch != p.Epoch && c.Cached >= front && front > 0 {
				t.Errorf("call %d: %d cached of a front of %d; epochs %s, %s", c.Record, c.Cached, front, before.Epoch, p.Epoch)
			}
		}
		sum.add(c)
	}
	if sum.Cached != s.Cache.Cached || sum.Tokens != s.Cache.Tokens || math.Abs(s.Cache.Share-float64(sum.Cached)/float64(sum.Tokens)) > 1e-12 {
		t.Errorf("%+v, not %+v", s.Cache, sum)
	}
}

func indexOf(calls []Call, record int) int {
	for i, c := range calls {
		if c.Record == record {
			return i
		}
	}
	return 0
}

// Where nothing is ever left out, what a cache gives is what the records in front of the call before weigh.
func TestCacheOfAHistoryThatOnlyGrows(t *testing.T) {
	d := newDesk(t)
	for i := range 12 {
		d.say("user", fmt.Sprintf("Please look at file%d.go and say what it is for.", i))
		d.call("read_file", fmt.Sprint("c", i), `{}`, fmt.Sprintf("package p%d\n\nfunc F%d() {}\n", i, i*i))
	}
	h := d.look(0)
	checkGrowing(t, h, stats(t, h, StatsOptions{Points: 5}))
}

// checkGrowing holds the calls of a history without a limit against the counts of its records alone.
func checkGrowing(t *testing.T, h *History, s *Stats) {
	t.Helper()
	c, err := h.counter()
	if err != nil {
		t.Fatal(err)
	}
	upTo := []int{c.Count("# Context Block: conversation\n")}
	if role := h.Messages().At(1).Role; role == ctxabi.System || role == ctxabi.Developer { // what leads has a heading of its own
		upTo[0] += c.Count("# Context Block: system messages\n")
	}
	last, leads := "", true
	for n := 1; n <= h.Len(); n++ {
		text, err := record.RenderRecord(h.Messages(), n, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		role := h.Messages().At(n).Role
		leads = leads && (role == ctxabi.System || role == ctxabi.Developer)
		if day, _ := record.DayOf(h.Messages(), n); !leads && day != "" && day != last {
			last, text = day, ctxabi.DayHeading+day+"\n"+text
		}
		upTo = append(upTo, upTo[n-1]+c.CountCached(text))
	}
	read, all, before := 0, 0, 0
	for n := 2; n <= h.Len(); n++ {
		if h.Messages().At(n).Role == ctxabi.Assistant {
			read, all, before = read+before, all+upTo[n-1], upTo[n-1]
		}
	}
	if c := s.Cache; c.Cached != read || c.Cached+c.Written != all || c.Calls < 2 {
		t.Errorf("%d tokens cached of %d in front of the footers, the records say %d of %d", c.Cached, c.Cached+c.Written, read, all)
	}
}

func TestStatsOfLittle(t *testing.T) {
	d := newDesk(t)
	s := stats(t, d.look(1000), StatsOptions{Points: 60})
	if len(s.Points) != 0 || len(s.Calls) != 0 || s.Recorded != nil || s.Cache.Share != 0 {
		t.Errorf("%+v", s)
	}
	d.say("user", "hi")
	if s = stats(t, d.look(1000), StatsOptions{Points: 60}); len(s.Points) != 1 || len(s.Calls) != 0 {
		t.Errorf("%+v", s)
	}
}

// Usage is matched with what was served, and where nothing was, with nothing.
func TestRecordedUsage(t *testing.T) {
	d := newDesk(t)
	d.say("user", "hi")
	use := func(input, read int) {
		d.event(obj{"type": "usage", "prompt_tokens": input, "prompt_tokens_details": obj{"cached_tokens": read}})
	}
	use(110, 0)
	d.say("assistant", "hello")
	d.say("user", "more")
	d.event(obj{"type": "note"})
	use(220, 100)
	d.say("assistant", "yes")
	h := d.look(1000)
	ctx := context.Background()

	unread := stats(t, h, StatsOptions{Points: 1})
	checkMatched(t, unread.Recorded, "")
	if r := unread.Recorded; unread.Read || unread.Predicts() || r.Records != 2 || r.All != 330 || r.CacheRead != 100 || r.Caches != 2 || r.Calibration != 0 || r.Predicted != 0 {
		t.Errorf("%+v", unread)
	}
	behind := func(event int) int64 { return h.Events().At(event).Offset }
	m := &memory{Source: h.Source, served: []blob.Row{
		{PackID: "sha256-a", Messages: 1, Tokens: 100},
		{PackID: "sha256-b", EventsBytes: behind(3), Messages: 3, Tokens: 200, KeptTokens: 90},  // the note of the harness was there
		{PackID: "sha256-c", EventsBytes: behind(3), Messages: 4, Tokens: 300, KeptTokens: 190}, // somebody looked at the answer before usage was noted
		{PackID: "sha256-d", EventsBytes: behind(3) + 1, Messages: 3, Tokens: 900},
	}}
	served, err := NewHistory(m).Stats(ctx, StatsOptions{Points: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := served.Recorded
	checkMatched(t, r, "served", 1, 3)
	if r.Calls[0].Counted != 100 || r.Calls[1].Counted != 200 || r.Input != 330 || r.Counted != 300 {
		t.Fatalf("%+v", r)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if !near(r.Calibration, 1.1) || !near(r.Predicted, 90.0/300) || !near(r.Share, 100.0/330) || !near(r.Difference, r.Predicted-r.Share) || r.Cached != 2 {
		t.Errorf("%+v", r)
	}

	// Somebody looked at a pack of a session whose program makes its own requests: one call of many follows.
	for range 3 {
		use(330, 300)
	}
	h = d.look(1000)
	peeked, err := NewHistory(&memory{Source: h.Source, served: m.served[:1]}).Stats(ctx, StatsOptions{Points: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkMatched(t, peeked.Recorded, "")
	if r := peeked.Recorded; !peeked.Read || peeked.Predicts() || r.Records != 5 || r.All != 1320 || r.Calibration != 0 {
		t.Errorf("%+v", peeked)
	}
}

// checkMatched holds r to have matched its records in the way by, with packs of so many messages.
func checkMatched(t *testing.T, r *Recorded, by string, messages ...int) {
	t.Helper()
	if r.By != by || r.Matched != len(messages) || by != "" && len(r.Calls) != len(messages) {
		t.Fatalf("%+v", r)
	}
	for i, n := range messages {
		if r.Calls[i].Messages != n {
			t.Errorf("call %d: %+v", i, r)
		}
	}
}

func TestEvenly(t *testing.T) {
	for _, c := range []struct{ n, k, last, len int }{{10, 3, 9, 3}, {3, 10, 2, 3}, {5, 0, 4, 5}, {1, 1, 0, 1}, {0, 4, 0, 0}} {
		got := evenly(c.n, c.k)
		if len(got) != c.len || c.len > 0 && got[len(got)-1] != c.last {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
