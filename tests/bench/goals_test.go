package bench

import (
	"fmt"
	"os"
	"strings"
)

// goal is one line of the table of goals.
type goal struct {
	id    string
	work  string
	unit  string
	limit float64
	least bool   // the figure is to be at least limit, else at most
	floor string // what the floor is that is measured beside it
	why   string // why a figure may stay above that floor
}

// goals are what ctxfs is to reach, in the order of the table. Times are of the daemon's processor where nothing else is
// said; ratios are of times on the clock in one run.
var goals = []goal{
	{"append-loopback", "append 1 KiB, against go-fuse's loopback", "×", 0.6, false, "a round trip to the daemon and two writes", "one request, and a write each for the row and for the data, in this order"},
	{"append-sqlite", "append 1 KiB, against SQLite WAL NORMAL (mattn)", "×", 2, false, "a round trip to the daemon and two writes", "SQLite is a library in the client's process: it needs no round trip"},
	{"append-cpu", "append 1 KiB, the daemon's processor", "ns", 35e3, false, "loopback's processor for the same", "four system calls: request, row, data, reply"},
	{"fsync-sqlite", "append 1 KiB and fsync, against SQLite FULL (mattn)", "×", 1.15, false, "two round trips to the daemon and a native fsync", "the second round trip, and two files to sync where SQLite has one"},
	{"read-cat", "`cat` of a live log of 7 MiB, against native", "×", 2.2, false, "passthrough", "each piece is asked of the daemon: a cache of the kernel could show half a record"},
	{"read-once", "the same in one read(2), against native", "×", 4.5, false, "passthrough", "1 MiB is the most that one request brings"},
	{"read-128k", "the same, 128 KiB a read(2), against native", "×", 5.5, false, "passthrough", "a round trip for each 128 KiB"},
	{"pack-native", "a pack, unchanged: open, read, close, against native", "×", 1.2, false, "passthrough", "opening and closing it are a round trip each, however its bytes are read"},
	{"served-native", "a pack in served/: open, read, close, against native", "×", 1.2, false, "passthrough", "the same; served packs are kept as differences and put together at the open"},
	{"pack-open", "a pack, its file open already, against native", "×", 1.2, false, "passthrough", "its bytes are in the cache of the kernel"},
	{"served-open", "a pack in served/, its file open already, against native", "×", 1.2, false, "passthrough", "the same"},
	{"torn", "torn reads and NULs beside a writer", "count", 0, false, "none", "a reader never sees half a record"},
	{"plain-p50", "pack after one append, p50, any length", "ns", 2e6, false, "hash and copy of the pack, four round trips", "half of it ranks the last 2,048 old records by their words for each new one; caches of the processor are cold after each pause"},
	{"plain-p99", "pack after one append, p99, any length", "ns", 10e6, false, "hash and copy of the pack, four round trips", "compactions, and requests of the user, for which all of the history is searched: old lines are chosen and counted anew"},
	{"growth", "p50 of 1,000,000 messages, against 100", "×", 1.2, false, "no growth", "recall's window is full from 2,000 records on"},
	{"sessions-turns", "pack after one append, 24 sessions of 700 real messages in turns, against one alone", "×", 1.3, false, "one session alone", "caches of the processor are cold after other sessions"},
	{"first-real", "first pack after a start, 760 real messages", "ns", 50e6, false, "tables of tokens", "they are read in each process, and recall's index is made of all records"},
	{"loop-p50", "prompt of 8,000 tokens at 1,000 messages, p50, against a bare SQLite loop", "×", 8, false, "the bare loop", "a pack is compacted, recalls and keeps its beginning; the loop has the newest rows alone"},
	{"loop-p99", "the same, p99", "×", 40, false, "the bare loop", "compactions"},
	{"worst", "worst single pack after the first, to the longest history", "ns", 50e6, false, "the worst of 100 messages", "compactions, and requests of the user, for which all of the history is searched"},
	{"first", "first pack after a start, 1,000,000 messages, index present", "ns", 100e6, false, "the same of 100 messages", "tables of tokens are read, and recall's index is made of 2,048 records"},
	{"first-largest", "the same, 10,000,000 messages", "ns", 400e6, false, "the same of 100 messages", "the same, and places of rows are looked for in all of the index"},
	{"first-memory", "the daemon's private memory then, 1,000,000 messages", "bytes", 80e6, false, "the same of 100 messages", "records that are read for the first pack, the index of terms that is then made behind the reader, and the collector's room"},
	{"busy-memory", "the daemon's memory after 1,000 packs of one session", "bytes", 90e6, false, "the same after one pack", "builds that are kept for the next ones"},
	{"many-memory", "10,000 sessions, the daemon's memory after a stat of each", "bytes", 70e6, false, "the same before", "what is kept of each session and of its nodes, and as much again that the collector leaves free"},
	{"many-search", "the same, a search of all of them, p50", "ns", 15e6, false, "the same of one session with as many records", "sessions with a hit are opened for their excerpts"},
	{"many-first", "the same, the first search after a start", "ns", 200e6, false, "the next searches", "the index is read and compared with the sessions"},
	{"indexing", "indexing for search, of one processor", "MB/s", 40, true, "SQLite FTS5", "words are cut, sorted and written"},
	{"recipe", "pack of a recipe, one of 200 files changed, against `cat` of its files", "×", 1.5, false, "the same, nothing changed", "each file is looked at, and the pack rendered anew"},
	{"idle-cpu", "idle, share of one processor", "share", 0.0002, false, "loopback", "timers of the daemon and of Go"},
	{"idle-wakeups", "idle, wake-ups a second", "/s", 1, false, "loopback", "timers of the daemon and of Go"},
	{"open-loopback", "open, append 1 KiB, close, against loopback", "×", 1.3, false, "loopback", "three requests, one of which commits"},
	{"writers-loopback", "8 writers on one log, against loopback", "×", 1.25, false, "loopback", "commits of one log come one after the other"},
	{"unchanged-loopback", "a pack, unchanged, against loopback", "×", 1.5, false, "loopback", "the daemon looks at each open whether the pack is still right"},
	{"mount", "mount to first answer, 10,000 sessions in the store, on the clock", "ns", 300e6, false, "the daemon's processor for it", "a process is started and mounts"},
	{"disk", "disk beside the log, a message, one commit each", "bytes", 120, false, "a hash", "who wrote it and when, its hash and its place"},
}

// reach is what was measured for a goal.
type reach struct {
	Known  bool     `json:"known"` // whether Figure was measured: a floor alone may have been
	Figure float64  `json:"figure"`
	Low    float64  `json:"low,omitempty"` // of a ratio: the ends of its 95 % interval
	High   float64  `json:"high,omitempty"`
	Before *float64 `json:"before,omitempty"`
	Floor  *float64 `json:"floor,omitempty"`
}

// reach notes the figure of a goal, which must be one of goals.
func (t *table) reach(id string, figure float64) {
	t.note(id, func(r *reach) { r.Known, r.Figure = true, figure })
}

// reachRatio notes the ratio of a row as the figure of a goal; a row without a ratio leaves the goal unmeasured.
func (t *table) reachRatio(id string, r row) {
	if r.Ratio > 0 {
		t.note(id, func(g *reach) { g.Known, g.Figure, g.Low, g.High = true, r.Ratio, r.Low, r.High })
	}
	if base := r.Figure[r.Against]; base > 0 && r.Figure[before] > 0 {
		t.was(id, r.Figure[before]/base)
	}
}

// floor notes the measured floor of a goal, in the unit of the goal.
func (t *table) floor(id string, v float64) { t.note(id, func(r *reach) { r.Floor = &v }) }

// was notes the figure of the commit before.
func (t *table) was(id string, v float64) { t.note(id, func(r *reach) { r.Before = &v }) }

func (t *table) note(id string, change func(*reach)) {
	for _, g := range goals {
		if g.id == id {
			if t.Reached == nil {
				t.Reached = map[string]reach{}
			}
			r := t.Reached[id]
			change(&r)
			t.Reached[id] = r
			return
		}
	}
	panic("bench: no goal " + id)
}

// met reports whether a figure reaches its goal.
func (g goal) met(r reach) bool {
	if g.least {
		return r.Figure >= g.limit
	}
	return r.Figure <= g.limit
}

// want returns the limit of a goal as its row has it.
func (g goal) want() string {
	sign := "≤ "
	if g.least {
		sign = "≥ "
	}
	switch {
	case g.unit == "bytes" && g.limit >= 10_000:
		return fmt.Sprintf("%s%g MB", sign, g.limit/1e6)
	case g.unit == "share":
		return fmt.Sprintf("%s%g %%", sign, 100*g.limit)
	case g.unit == "×" || g.unit == "/s" || g.unit == "MB/s":
		return fmt.Sprintf("%s%g %s", sign, g.limit, g.unit)
	case g.limit == 0:
		return "0"
	}
	return sign + format(g.unit, g.limit)
}

// goalTable returns the goals with what was measured, met or missed, and for what is missed its floor and the reason. A run
// of some groups shows their goals alone, "" where they have none.
func (t *table) goalTable() string {
	if len(t.Reached) == 0 {
		return ""
	}
	var b strings.Builder
	if t.Before == "" {
		b.WriteString("| work | goal | figure | | floor, and why it is missed |\n| --- | ---: | ---: | --- | --- |\n")
	} else {
		b.WriteString("| work | goal | before | figure | | floor, and why it is missed |\n| --- | ---: | ---: | ---: | --- | --- |\n")
	}
	for _, g := range goals {
		r := t.Reached[g.id]
		if !r.Known && !t.Whole {
			continue
		}
		figure, was, verdict, why := "not measured", "–", "–", ""
		if r.Known {
			figure = format(g.unit, r.Figure)
			if g.unit == "×" {
				figure = times(r.Figure, r.Low, r.High)
			}
			if r.Before != nil {
				was = format(g.unit, *r.Before)
			}
			verdict = "met"
			if !g.met(r) {
				verdict = "**missed**"
				why = g.floor + ": " + g.why
				if r.Floor != nil {
					why = format(g.unit, *r.Floor) + " (" + g.floor + "): " + g.why
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s |", g.work, g.want())
		if t.Before != "" {
			fmt.Fprintf(&b, " %s |", was)
		}
		fmt.Fprintf(&b, " %s | %s | %s |\n", figure, verdict, why)
	}
	return b.String()
}

// The parts of a document that a run replaces stand between two such lines.
const (
	beginMark = "<!-- make bench: %s -->"
	endMark   = "<!-- end of %s -->"
)

// document returns a text in which the tables of this run stand between their marks, and an error where a mark is missing.
// What this run did not measure whole stays as it was.
func (t *table) document(text string) (string, error) {
	goals, places := t.goalTable(), t.places()
	if !t.Whole {
		goals, places = "", ""
	}
	for _, part := range []struct{ name, body string }{{"goals", goals}, {"growth", t.growth()}, {"places", places}, {"peers", t.peers()}} {
		begin, end := fmt.Sprintf(beginMark, part.name), fmt.Sprintf(endMark, part.name)
		head, rest, ok := strings.Cut(text, begin)
		_, tail, ended := strings.Cut(rest, end)
		if !ok || !ended {
			return "", fmt.Errorf("the document lacks %s or %s", begin, end)
		}
		if part.body == "" {
			continue
		}
		text = head + begin + "\n\n" + t.heading() + ".\n\n" + part.body + "\n" + end + tail
	}
	return text, nil
}

// print shows the tables, and writes them between the marks of the document that BENCH_MD names.
func (t *table) print() error {
	fmt.Printf("\n%s\n\n", t.heading())
	for _, body := range []string{t.markdown(), t.growth(), t.peers(), t.goalTable()} {
		if body != "" {
			fmt.Println(body)
		}
	}
	file := os.Getenv("BENCH_MD")
	if file == "" {
		return nil
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := t.document(string(old))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
