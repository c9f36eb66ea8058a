package eval

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/session/log"
)

func recordOf(fields ...string) []byte {
	m := map[string]string{}
	for i := 0; i < len(fields); i += 2 {
		m[fields[i]] = fields[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

func sessionOf(t interface{ Fatal(...any) }, records ...[]byte) *Session {
	s := &Session{Set: "set", Name: "s", Messages: &log.MemLog{}}
	for _, raw := range records {
		s.Messages.Append(raw)
	}
	if err := s.prepare(counterOf(t)); err != nil {
		t.Fatal(err)
	}
	return s
}

func counterOf(t interface{ Fatal(...any) }) *tokens.Counter {
	c, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// packBy is the pack of all of a session.
func packBy(t interface{ Fatal(...any) }, s *Session, method string, budget int) Pack {
	for _, m := range makers {
		if m.Name == method {
			p, err := m.make(s, counterOf(t), budget, &Options{}).Pack(s.Messages.Len())
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatal("no method " + method)
	return Pack{}
}

// history draws a session: a system prompt, requests, answers, tool outputs of all sizes.
func history(t *rapid.T) *Session {
	records := [][]byte{recordOf("role", "system", "content", "Be brief."), recordOf("role", "user", "content", "first request "+sentence(t))}
	for range rapid.IntRange(3, 25).Draw(t, "records") {
		text := strings.Repeat(sentence(t)+"\n", rapid.SampledFrom([]int{1, 2, 5, 30, 100}).Draw(t, "size"))
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			records = append(records, recordOf("role", "user", "content", text))
		case 1:
			records = append(records, recordOf("role", "assistant", "content", text))
		default:
			records = append(records, recordOf("role", "tool", "name", "run", "content", text))
		}
	}
	return sessionOf(t, records...)
}

// Whatever the history: exact tokens within the budget, records in their order, each at most once and as
// it is but for cut ones.
func TestBaselinesKeepTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := history(t)
		budget := rapid.SampledFrom([]int{500, 1500, 1 << 20}).Draw(t, "budget")
		n := s.Messages.Len()
		for _, m := range makers {
			p := packBy(t, s, m.Name, budget)
			if exact := counterOf(t).Count(p.Text); exact != p.Tokens || exact > budget {
				t.Fatalf("%s: %d tokens stated, %d counted, the budget is %d", m.Name, p.Tokens, exact, budget)
			}
			if len(p.Wrong) > 0 {
				t.Fatal(p.Wrong)
			}
			if !strings.Contains(p.Text, fmt.Sprintf("\n## %d ", n)) {
				t.Fatalf("%s does not show the newest record", m.Name)
			}
			last := 0
			for heading := range strings.SplitSeq(p.Text, "\n## ") {
				var line int
				if _, err := fmt.Sscanf(heading, "%d ", &line); err == nil && !strings.HasSuffix(strings.SplitN(heading, "\n", 2)[0], " (recalled)") {
					if line <= last {
						t.Fatalf("%s: %d comes after %d", m.Name, line, last)
					}
					last = line
				}
			}
			if all := conversation + strings.Join(s.texts, ""); budget == 1<<20 && m.Name != "observation masking" && m.Name != Ctxfs && p.Text != all {
				t.Fatalf("%s leaves something out without need", m.Name)
			}
		}
	})
}

// numbered is a session of n small records, alternately of the agent and of a tool; the first two are a system prompt and a request.
func numbered(t *testing.T, n int) *Session {
	records := [][]byte{recordOf("role", "system", "content", "Be brief."), recordOf("role", "user", "content", "Find the pearl.")}
	for i := 3; i <= n; i++ {
		if i%2 == 1 {
			records = append(records, recordOf("role", "assistant", "content", fmt.Sprintf("I look into box %d now.", i)))
		} else {
			records = append(records, recordOf("role", "tool", "name", "look", "content", fmt.Sprintf("Box %d holds %s.", i, strings.Repeat("sand and ", 12))))
		}
	}
	return sessionOf(t, records...)
}

func TestBaselinesChoose(t *testing.T) {
	s := numbered(t, 60)
	// whole returns the records that stand in a pack as they are.
	whole := func(method string, budget int) (lines []int) {
		p := packBy(t, s, method, budget)
		for i, text := range s.texts {
			if strings.Contains(p.Text, text) {
				lines = append(lines, i+1)
			}
		}
		return lines
	}
	// suffix is the oracle: the records from the end on that fit beside the system record.
	suffix := func(room int) (lines []int) {
		c := counterOf(t)
		room -= c.Count(conversation) + s.tokens[0]
		from := len(s.texts) + 1
		for from > 2 && s.tokens[from-2] <= room {
			from--
			room -= s.tokens[from-1]
		}
		lines = []int{1}
		for ; from <= len(s.texts); from++ {
			lines = append(lines, from)
		}
		return lines
	}
	if got, want := whole("last N", 600), suffix(600); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("last N shows %v, want %v", got, want)
	}
	if got, want := whole("first user + last N", 600), suffix(600-s.tokens[1]); fmt.Sprint(got) != fmt.Sprint(append([]int{1, 2}, want[1:]...)) {
		t.Errorf("first user + last N shows %v, want 2 and %v", got, want)
	}
	got := whole("head + tail", 600)
	gap := 0
	for i := 1; i < len(got); i++ {
		if got[i] != got[i-1]+1 {
			gap++
		}
	}
	if gap != 1 || got[0] != 1 || got[len(got)-1] != 60 || len(got) < 10 {
		t.Errorf("head + tail shows %v", got)
	}
	masked := packBy(t, s, "observation masking", 1<<20)
	if n := strings.Count(masked.Text, "output left out"); n != 29-maskedBefore {
		t.Errorf("%d of 29 outputs are masked", n)
	}
	if strings.Contains(masked.Text, "Box 40 holds") || !strings.Contains(masked.Text, "Box 42 holds") || !strings.Contains(masked.Text, "context/line/40.txt") {
		t.Errorf("other outputs are masked than the oldest:\n%s", masked.Text)
	}
}

func TestRankedFindsWhatIsAskedFor(t *testing.T) {
	s := numbered(t, 60)
	var records [][]byte
	for line := 1; line <= 60; line++ {
		raw, _ := s.Messages.Record(line)
		if line == 20 {
			raw = recordOf("role", "tool", "name", "look", "content", "An oyster with a pearl lies in cellar_7.")
		}
		records = append(records, raw)
	}
	records = append(records, recordOf("role", "user", "content", "Where was the oyster?"))
	s = sessionOf(t, records...)
	if p := packBy(t, s, "BM25 half + tail", 600); !strings.Contains(p.Text, "cellar_7") {
		t.Errorf("the oyster is not found:\n%s", p.Text)
	}
	if p := packBy(t, s, "last N", 600); strings.Contains(p.Text, "cellar_7") {
		t.Error("the last records hold the oyster: the test shows nothing")
	}
}
