package top

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/views/overview"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite.Wrap(m)) }

// shown is a model of n sessions in a window, and what it wished last.
func shown(n, width, height int) (m *model, last *wish) {
	last = &wish{}
	m = newModel(&Config{Source: &overview.Source{Root: "/ctx"}, Order: ByActivity, Color: true}, func(w wish) { *last = w })
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.Update(listMsg{entriesOf(n)})
	return m, last
}

func entriesOf(n int) (entries []overview.Entry) {
	for i := range n {
		entries = append(entries, overview.Entry{Ref: fmt.Sprintf("home/0/agent/agent%d/session/s%05d", i%7, i), Updated: time.Unix(int64(1e9-i), 0)})
	}
	return entries
}

func typeInto(m *model, keys ...tea.KeyPressMsg) {
	for _, k := range keys {
		m.Update(k)
	}
}

func letter(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Text: string(r)} }

// Rows that are not on the screen are not wished for, wherever it is, but by an order that needs them.
func TestRowsOfTheScreenAlone(t *testing.T) {
	m, last := shown(10_000, 120, 30)
	for _, c := range []struct {
		key   tea.KeyPressMsg
		first string
	}{
		{letter('x'), "s00000"}, {letter('G'), "s09973"}, {letter('g'), "s00000"}, {tea.KeyPressMsg{Code: tea.KeyPgDown}, "s00001"},
	} {
		typeInto(m, c.key)
		if len(last.shown) != 27 || !strings.HasSuffix(last.shown[0], c.first) || last.all {
			t.Errorf("after %s: %d rows from %s, all: %v", c.key, len(last.shown), last.shown[0], last.all)
		}
	}
	typeInto(m, letter('s'))
	if !last.all {
		t.Error("an order by tokens does not ask for all rows")
	}
	typeInto(m, tea.KeyPressMsg{Code: tea.KeyEnter})
	if last.all || len(last.shown) != 0 || last.detail == "" {
		t.Errorf("the screen of a session wishes for %+v", last)
	}
}

// The chosen session stays chosen where it goes, but for the first place, where one sees what comes to the top.
func TestTheChosenSessionStays(t *testing.T) {
	m, _ := shown(50, 120, 20)
	at := func() string { return m.list[m.at].Ref[len(m.list[m.at].Ref)-6:] }
	move := func(i int) {
		entries := entriesOf(50)
		entries[i].Updated = time.Unix(2e9, 0)
		m.Update(listMsg{entries})
		m.refilter()
	}
	move(30)
	if at() != "s00030" {
		t.Errorf("at the top %s is chosen", at())
	}
	m, _ = shown(50, 120, 20)
	typeInto(m, letter('j'), letter('j'))
	move(30)
	if at() != "s00002" || m.at != 3 {
		t.Errorf("%s is chosen, at %d", at(), m.at)
	}
	typeInto(m, letter('p'))
	move(40)
	if !m.paused || m.list[0].Ref[len(m.list[0].Ref)-6:] != "s00030" {
		t.Error("a paused list moves")
	}
}

// Every line of every screen is as wide as the window at most, whatever sessions say.
func TestLinesFit(t *testing.T) {
	evil := "\x1b[31m你好 \u202E👩\u200d💻👍🏽 ❤\ufe0f\r\b\te\u0301" + strings.Repeat("世界", 50)
	for w := 1; w < 220; w += 3 {
		m, _ := shown(9, w, 24)
		m.paint = painter{}
		row := overview.Row{Entry: entriesOf(1)[0], State: evil, Last: evil, LastRole: "user", Messages: 123456, Budget: 32000,
			Packs: overview.Packs{Any: true, Cached: true, Share: 0.5, Tokens: 31000, Values: []int{1, 2, 3}, Peak: 3, Count: 3}}
		m.Update(rowsMsg{[]overview.Row{row}, 5})
		screens := []string{m.screen()}
		typeInto(m, letter('?'))
		screens = append(screens, m.screen())
		typeInto(m, letter('?'), tea.KeyPressMsg{Code: tea.KeyEnter})
		m.Update(detailMsg{&detail{ref: m.detail.ref, dir: evil, row: row, records: []overview.Glimpse{{N: 1, Role: evil, First: evil}},
			refusals: []overview.Refusal{{What: evil, Path: evil, Reason: evil, Count: 3}}, prompt: &prompt{31000, 32000, 3, []part{{"Conversation", 30000}}}}})
		screens = append(screens, m.screen())
		for i, screen := range screens {
			lines := strings.Split(screen, "\n")
			if len(lines) > 24 {
				t.Errorf("%d columns, screen %d: %d lines", w, i, len(lines))
			}
			for _, line := range lines {
				if n := width(line); n > w || strings.ContainsAny(line, "\x1b\r\b\t\u202e\u200d\ufe0f") {
					t.Errorf("%d columns, screen %d: %d cells: %q", w, i, n, line)
				}
			}
		}
	}
}

func TestFilter(t *testing.T) {
	m, _ := shown(30, 120, 20)
	typeInto(m, letter('/'), letter('T'), letter('3'), tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}, letter('\u202e'), letter('1'))
	if m.filter != "T3 1" {
		t.Errorf("the filter is %q", m.filter)
	}
	if len(m.list) != 2 || m.list[0].folded != "agent3/s00010 " || m.list[1].folded != "agent3/s00017 " {
		t.Errorf("%d are left", len(m.list))
	}
	typeInto(m, tea.KeyPressMsg{Code: tea.KeyEsc})
	if m.filter != "" || len(m.list) != 30 || m.filtering {
		t.Errorf("%q leaves %d", m.filter, len(m.list))
	}
}

func BenchmarkScreen(b *testing.B) {
	m, _ := shown(10_000, 120, 40)
	for b.Loop() {
		typeInto(m, letter('j'))
		m.screen()
	}
}
