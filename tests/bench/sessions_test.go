package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const (
	sessionRecords = 700 // messages of each session that is used in turns
	realRecords    = 760 // messages of the session of which the first pack is measured
)

// realSession returns the lines of a real coding session of 914 messages, one message each. It skips the group where the
// test data are not there.
func realSession(t *testing.T) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(harness.TestData(t), "sessions", "pi_coding", "large-session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(bytes.TrimSpace(data), []byte("\n"))
}

// appendLines appends records to a log in writes of at most 64 records.
func appendLines(t *testing.T, log string, lines ...[]byte) {
	t.Helper()
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for len(lines) > 0 {
		n := min(64, len(lines))
		if _, err := f.Write(bytes.Join(lines[:n], nil)); err != nil {
			t.Fatal(err)
		}
		lines = lines[n:]
	}
}

// readPack reads the pack of a log and returns the daemon's processor time for it in nanoseconds.
func readPack(t *testing.T, p *site, log string) float64 {
	t.Helper()
	from := cpuClock(p.daemon())
	if _, err := os.ReadFile(filepath.Join(filepath.Dir(log), ctxabi.PackFile)); err != nil {
		t.Fatal(err)
	}
	return cpuClock(p.daemon()) - from
}

// benchSessions measures real sessions: packs of many that are used in turns against packs of one, and the first pack
// after a start.
func benchSessions(t *testing.T, z sizes, tab *table) {
	lines := realSession(t)
	serving := daemons(t, harness.Options{})
	defer stop(serving)

	logs := map[string][]string{}
	for _, p := range serving {
		for i := range z.busySessions {
			log := p.log(t, fmt.Sprintf("turns-%d", i))
			appendLines(t, log, lines[:sessionRecords]...)
			readPack(t, p, log)
			logs[p.name] = append(logs[p.name], log)
		}
	}

	one, many := samples{}, samples{}
	next := map[string]int{} // by log: the record to come
	take := func(p *site, log string) float64 {
		appendLines(t, log, lines[sessionRecords+next[log]])
		next[log]++
		return readPack(t, p, log)
	}
	const turnsARound = 8
	for range z.rounds {
		for _, p := range serving {
			take(p, logs[p.name][0])
			for range turnsARound {
				one.add(p.name, take(p, logs[p.name][0]))
			}
			for range 2 {
				for _, log := range logs[p.name] {
					many.add(p.name, take(p, log))
				}
			}
		}
	}
	alone := tab.compare(fmt.Sprintf("pack after one append, a session of %d real messages alone, the daemon's processor", sessionRecords), "ns", one, 50, "")
	turns := tab.compare(fmt.Sprintf("... %d such sessions in turns", z.busySessions), "ns", many, 50, "")
	tab.reach("sessions-turns", turns.Figure[ctxfs]/alone.Figure[ctxfs])
	tab.floor("sessions-turns", 1)
	if base := alone.Figure[before]; base > 0 {
		tab.was("sessions-turns", turns.Figure[before]/base)
	}
	firstOfReal(t, z, tab, serving, lines)
}

// firstOfReal measures the first pack after a start of a real session that stays short.
func firstOfReal(t *testing.T, z sizes, tab *table, serving []*site, lines [][]byte) {
	first := samples{}
	for _, p := range serving {
		log := p.log(t, "first")
		for i := range realRecords {
			appendLines(t, log, lines[i])
			if i%8 == 0 { // an agent reads its prompt as the session grows
				readPack(t, p, log)
			}
		}
		for i := range z.rounds {
			appendLines(t, log, lines[realRecords+i])
			p.mount.Restart()
			first.add(p.name, readPack(t, p, log))
		}
	}
	r := tab.compare(fmt.Sprintf("first pack after a start, %d real messages, the daemon's processor", realRecords), "ns", first, 50, "")
	note(tab, "first-real", r, 0)
}
