package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/views/inspect"
)

// Statistics of fixed figures, drawn 40 columns wide and as tables.
func TestStatsArePrinted(t *testing.T) {
	s := &inspect.Stats{
		Messages: 1200, Events: 3, Budget: 8000, Encoding: "o200k_base",
		Now: &inspect.StatsEpoch{Epoch: "2-ab", Reason: "compaction when messages:900 arrived", Compactions: 2, Tokens: 4321},
		Points: []inspect.Point{
			{Messages: 600, Tokens: 1000, Sections: inspect.Sections{Stable: 100, Session: 50, Journal: 800, Footer: 50}, Zones: inspect.Zones{Full: 790, Framing: 10}, Calls: 3, Cached: 0.5},
			{Messages: 1200, Tokens: 4321, Sections: inspect.Sections{Stable: 100, Session: 50, Journal: 4121, Footer: 50},
				Zones: inspect.Zones{UserWords: 60, Summary: 11, Files: 70, KeyLines: 400, Folded: 200, Kept: 90,
					Full: 3000, Shortened: 400, Framing: 20}},
		},
		Tools:       []inspect.Tool{{Name: "shell", Results: 40, Whole: 90000, Shown: 900, InPack: 4}, {Results: 1, Whole: 7}},
		Compactions: []inspect.Epoch{{Messages: 700, Compactions: 1, Reason: "compaction when messages:700 arrived", Tokens: 2000, Before: 5000}},
		Cache:       inspect.Cache{All: 9, Calls: 3, Sampled: true, Tokens: 4000, Cached: 3000, Written: 900, Fresh: 100, Share: 0.75},
		Read:        true,
		Recorded: &inspect.Recorded{Records: 3, All: 7500, CacheRead: 5000, Output: 90, Caches: 2, Matched: 2, By: "served", Input: 5000, Counted: 4000, Calibration: 1.25, Cached: 2,
			Predicted: 0.75, Share: 0.7, Difference: 0.05},
	}
	print := func(o cli.Screen, s *inspect.Stats) string {
		var b bytes.Buffer
		(&statsPrinter{&b, o, s}).print()
		return b.String()
	}
	const rest = `
results by tool: all of them, and what the present pack shows
  results  tokens  in the pack  tokens  share  tool
       40  90,000            4     900  1.0 %  shell
        1       7            0       0  0.0 %  (unknown)

requests that began an epoch
  messages  tokens before  after  why
       700          5,000  2,000  compaction when messages:700 arrived

predicted cache
  3 of 9 calls were looked at; --calls 0 looks at all
    cached   3,000   75.0 %
    written    900   22.5 %
    fresh      100    2.5 %
    all      4,000  100.0 %

recorded usage
  3 records: 7,500 input tokens, 5,000 of them (66.7 %) read from the cache; 90 output tokens
  2 records matched, each with the pack that was opened last before it
  input tokens: recorded 5,000, counted in packs 4,000; calibration 1.250
  read from the cache: recorded 70.0 %, predicted 75.0 %; difference +5.0 points
`
	const top = `1,200 messages, 3 events; budget 8,000, o200k_base
now: 4,321 tokens, 2 compactions; epoch 2-ab, compaction when messages:900 arrived
`
	drawn := top + `
tokens by section
  stable    ▁▁ 100
  session   ▁▁ 50
  journal   ▂█ 4,121
  footer    ▁▁ 50
  all       ▂█ 4,321
  cached    ▅▁ 0.0 %

tokens of the conversation by zone
  user's words   ▁▁ 60
  summary        ▁▁ 11
  files and runs ▁▁ 70
  notes          ▁▁ 0
  key lines      ▁▂ 400
  folded         ▁▁ 200
  kept           ▁▁ 90
  shortened      ▁▂ 400
  full           ▃█ 3,000
` + rest
	tables := top + `
tokens by section, and the cache's share since the row before
  messages  stable  session  journal  footer   all  cached
       600     100       50      800      50  1000   0.500
      1200     100       50     4121      50  4321       -

tokens of the conversation by zone
  messages  user's words  summary  files and runs  notes  key lines  folded  kept  shortened  full
       600             0        0               0      0          0       0     0          0   790
      1200            60       11              70      0        400     200    90        400  3000
` + rest
	same(t, print(cli.Screen{Terminal: true, Width: 40}, s), drawn)
	same(t, print(cli.Screen{}, s), tables)
	bold := print(cli.Screen{Terminal: true, Bold: true, Width: 40}, s)
	if !strings.Contains(bold, "\x1b[1mtokens by section\x1b[0m\n") || strings.ReplaceAll(strings.ReplaceAll(bold, "\x1b[1m", ""), "\x1b[0m", "") != drawn {
		t.Errorf("bold type changes more than itself:\n%s", bold)
	}

	s.Recorded = &inspect.Recorded{Records: 3, All: 21562, Caches: 3, CacheRead: 20000, Output: 812}
	const said = "\nrecorded usage\n  3 records: 21,562 input tokens, 20,000 of them (92.8 %) read from the cache; 812 output tokens\n"
	for _, read := range []bool{true, false} {
		s.Read = read
		out := print(cli.Screen{}, s)
		used, tokens := strings.Index(out, said), strings.Index(out, "\ntokens by section\n")
		if used < 0 || tokens < used || strings.Contains(out, "calibration") || strings.Contains(out, "predicted") || strings.Contains(out, "cached") {
			t.Errorf("packs were read: %v, none is that of a call:\n%s", read, out)
		}
		if strings.Contains(out, "that ctxfs would send") == read || strings.Contains(out, "too few of the records") != read {
			t.Errorf("packs were read: %v:\n%s", read, out)
		}
	}
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRecordsArePrinted(t *testing.T) {
	var b bytes.Buffer
	printRecord(&b, inspect.Record{
		Record: inspect.Address{N: 57}, What: "tool shell [call 56.1]", Whole: 1204, Paths: []string{"context/line/57"},
		Place:    inspect.Place{Zone: inspect.LeftOut, How: "compacted"},
		KeyLines: []inspect.Quote{{Line: "exit 1", Blocks: []string{"key lines (messages:1-90)"}}},
		Cited: []inspect.Quote{{Line: "- Failed: no (messages:57)",
			Blocks: []string{"summary (messages:1-80)", "facts (messages:1-90)"}}},
		Footer: []string{"recall"},
		Life: []inspect.Turn{
			{At: 57, Place: inspect.Place{Zone: inspect.Shortened, How: "log"}, Tokens: 480},
			{At: 120, Place: inspect.Place{Zone: inspect.Folded}, Tokens: 31, Compaction: true, EpochReason: "compaction when messages:120 arrived"},
			{At: 203, Place: inspect.Place{Zone: inspect.LeftOut, How: "compacted"}, EpochReason: "the journal was folded tighter (step 2) to fit the budget"},
		},
	})
	same(t, b.String(), `messages:57  tool shell [call 56.1], 1,204 tokens in full
  now     left out: a compaction took it out
  line    key lines (messages:1-90): exit 1
  cited   summary (messages:1-80), facts (messages:1-90): Failed: no (messages:57)
  footer  named in recall
  whole   context/line/57
  life    arrived: shortened as log, 480 tokens
          folded, 31 tokens by the compaction that message 120 brought
          left out when message 203 came (the journal was folded tighter (step 2) to fit the budget)
`)
}

func TestEventsArePrinted(t *testing.T) {
	var b bytes.Buffer
	printRecord(&b, inspect.Record{Record: inspect.Address{Event: true, N: 4}, What: "tool_call", Whole: 9, Paths: []string{"context/line/e4"},
		Place: inspect.Place{Zone: inspect.Kept}, Tokens: 9, Life: []inspect.Turn{{At: 0, Place: inspect.Place{Zone: inspect.Full}, Tokens: 9}, {At: 7, Place: inspect.Place{Zone: inspect.Kept}, Tokens: 9, Compaction: true}}})
	printRecord(&b, inspect.Record{Record: inspect.Address{Event: true, N: 5}, What: "event usage", Whole: 12, Paths: []string{"context/line/e5"}, Note: "no pack shows it"})
	same(t, b.String(), `events:4  tool_call, 9 tokens in full
  now     kept in full, 9 tokens
  whole   context/line/e4
  life    arrived behind message 0: in full, 9 tokens
          kept in full by the compaction that message 7 brought
events:5  event usage, 12 tokens in full
  now     nowhere: no pack shows it
  whole   context/line/e5
`)
}
