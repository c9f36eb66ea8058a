package acts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// did is a call and its result.
type did struct{ tool, arguments, result string }

// stateOf is the state after calls, each of which has a record, and its result the next.
func stateOf(calls ...did) State {
	var s State
	for i, c := range calls {
		id := fmt.Sprint("c", i)
		s = s.Apply(toolcall.Record{At: 2*i + 1, Calls: []ctxabi.Call{{ID: id, Name: c.tool, Arguments: c.arguments}}})
		s = s.Apply(toolcall.Record{At: 2*i + 2, Results: []toolcall.Result{{Call: id, Tool: c.tool, Text: c.result}}})
	}
	return s
}

const booked = `{"reservation_id": "H8Q", "cabin": "economy", "flights": [{"number": "A1", "price": 104}], "payments": [{"payment_id": "card_1", "amount": 104}]}`

func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		calls []did
		want  []string
	}{
		"what a call changed": {[]did{
			{"get_reservation", `{"reservation_id":"H8Q"}`, booked},
			{"cancel_reservation", `{"reservation_id":"H8Q"}`, strings.Replace(booked, `104}]}`, `104}, {"payment_id": "card_1", "amount": -104}], "status": "cancelled"}`, 1)},
		}, []string{"cancel_reservation H8Q: done (4): payments: payment_id card_1, amount -104; status cancelled"}},
		"what a call made": {[]did{
			{"book_reservation", `{"user_id":"ada","cabin":"economy"}`, `{"reservation_id": "H8Q", "user_id": "ada", "cabin": "economy", "total": 104}`},
		}, []string{"book_reservation H8Q: done (2): reservation_id H8Q; total 104"}},
		"what was made is known from then on": {[]did{
			{"book_reservation", `{"user_id":"ada","cabin":"economy"}`, `{"reservation_id": "H8Q", "user_id": "ada", "cabin": "economy", "total": 104}`},
			{"book_reservation", `{"user_id":"ada","cabin":"economy"}`, `{"reservation_id": "K2", "user_id": "ada", "cabin": "economy", "total": 99}`},
			{"update_reservation", `{"reservation_id":"H8Q"}`, `{"reservation_id": "H8Q", "user_id": "ada", "cabin": "business", "total": 104}`},
		}, []string{"update_reservation H8Q: done (6): cabin business", "book_reservation K2: done (4): reservation_id K2; total 99", "book_reservation H8Q: done (2): reservation_id H8Q; total 104"}},
		"of the same number, not the same": {[]did{
			{"get_ticket", `{"ticket_id":"7"}`, `{"ticket_id":"7","state":"open","paid":true}`},
			{"update_comment", `{"comment_id":"7"}`, `{"comment_id":"7","state":"open","paid":true}`},
		}, []string{"update_comment 7: done (4): state open; paid true"}},
		"a failure": {[]did{
			{"update_reservation", `{"reservation_id":"H8Q"}`, "Error: no seats\non this flight"},
		}, []string{"update_reservation H8Q: failed (2): Error: no seats"}},
		"a later one of the same takes its place": {[]did{
			{"update_ticket", `{"ticket_id":"7","state":"open"}`, "Error: locked"},
			{"updateTicket", `{"ticket_id":"8"}`, "saved"},
			{"update_ticket", `{"ticket_id":"7","state":"closed"}`, "saved"},
		}, []string{"update_ticket 7: done (6): state closed; saved", "updateTicket 8: done (4): saved"}},
		"a server's tool": {[]did{{"mcp__mail__send_message", `{"to":"ada@example.com","body":"Hi."}`, "Message sent."}}, []string{"mcp__mail__send_message: done (2): Message sent."}},
		"what only reads, files and shells": {[]did{
			{"get_user_details", `{"user_id":"ada"}`, `{"user_id":"ada","cards":2}`},
			{"think", `{"thought":"hm"}`, ""},
			{"search_direct_flight", `{"origin":"A"}`, "[]"},
			{"write_file", `{"path":"a.go","content":"x"}`, "ok"},
			{"bash", `{"command":"rm -r x"}`, ""},
			{"run_tests", `{}`, "ok"},
			{"mcp__db__listTables", `{}`, "a"},
		}, nil},
		"an object of no interest is not known": {[]did{
			{"get_a", `{}`, `[1]`}, {"set_flag", `{"name":"beta"}`, `{"ok":true}`},
		}, []string{"set_flag beta: done (4): ok true"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := stateOf(c.calls...).Lines(Options{Chars: 4000}); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestLinesStayWithinTheirRoom(t *testing.T) {
	var calls []did
	for i := range 100 {
		calls = append(calls, did{"close_ticket", fmt.Sprintf(`{"ticket_id":"t%d"}`, i), "closed, " + strings.Repeat("and that is all. ", i)})
	}
	s := stateOf(calls...)
	if n := len(s.Acts()); n != MaxActs {
		t.Errorf("%d acts", n)
	}
	for _, chars := range []int{0, 40, 400, 4000} {
		lines := s.Lines(Options{Chars: chars, Where: func(at int) string { return fmt.Sprint("m", at) }, Since: 120})
		if n := len(strings.Join(lines, "\n")) + 1; len(lines) > 0 && n > chars {
			t.Errorf("%d bytes of %d", n, chars)
		}
		if chars == 4000 && !strings.HasPrefix(lines[0], "close_ticket t99: done (m200): closed") {
			t.Errorf("the newest is %q", lines[0])
		}
		if chars == 4000 && strings.Contains(strings.Join(lines, "\n"), "(m120)") {
			t.Error("one of before is shown")
		}
	}
}

// A state is a value: what is applied to it leaves it as it is, and nothing in a call breaks it.
func TestApplyLeavesTheStateAsItIs(t *testing.T) {
	text := rapid.SampledFrom([]string{`{"ticket_id":"7","a":{"b":[1,2]}}`, `{"ticket_id":"7","a":1}`, booked, "Error: x", "", "{", `{"a":null}`, strings.Repeat("[", 50), `{"id":"7","x":"\u0000"}`})
	tool := rapid.SampledFrom([]string{"close_ticket", "get_ticket", "updateTicket", "", "bash", "x__y__send_it"})
	rapid.Check(t, func(t *rapid.T) {
		var s State
		for i := range rapid.IntRange(1, 20).Draw(t, "calls") {
			before, lines := s, s.Lines(Options{Chars: 1 << 20})
			s = s.Apply(toolcall.Record{At: i + 1, Calls: []ctxabi.Call{{ID: "c", Name: tool.Draw(t, "tool"), Arguments: text.Draw(t, "arguments")}}, Results: []toolcall.Result{{Text: text.Draw(t, "result")}}})
			if again := before.Lines(Options{Chars: 1 << 20}); !slices.Equal(again, lines) {
				t.Fatalf("%q became %q", lines, again)
			}
			for _, line := range s.Lines(Options{Chars: 1 << 20}) {
				if strings.Contains(line, "\n") || len(line) > maxSaid+200 {
					t.Fatalf("%q", line)
				}
			}
		}
	})
}

// A later value in the same field of the same object replaces the earlier one, and nothing else does.
func TestSettingReplacesSameField(t *testing.T) {
	const tool, was = "mcp__table__update_reservation", `{"reservation":"LH-5530","date":"2026-04-18","party_size":6}`
	for _, c := range []struct {
		was, now string
		want     bool
	}{
		{was, `{"reservation":"LH-5530","party_size":8}`, true},
		{was, `{"reservation":"LH-5530","party_size":6}`, false},
		{was, `{"reservation":"LH-7000","party_size":8}`, false},
		{was, `{"reservation":"LH-5530","room":"blue"}`, false},
		{`{"booking":"VQ7K2L","passenger":1,"meal":"vegan"}`, `{"booking":"VQ7K2L","passenger":2,"meal":"vegan"}`, false},
		{`{"room":"nursery","target_c":21}`, `{"room":"attic","target_c":16}`, false},
	} {
		first, ok := SettingOf(tool, c.was)
		later, also := SettingOf(tool, c.now)
		if got := ok && also && later.Replaces(&first); got != c.want {
			t.Errorf("%s, %s: %v", c.was, c.now, got)
		}
	}
	if _, ok := SettingOf("get_reservation", was); ok {
		t.Error("a call that reads sets something")
	}
}
