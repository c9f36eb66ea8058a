package pack

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
)

func rulesAt(budget int) journal.Rules {
	return rulesOf(budget, 0)
}

// rulesOf are those of the default recipe without any files.
func rulesOf(budget, step int) journal.Rules {
	in := Input{Budget: budget}
	y := in.begin(NewMemo(), testCounter)
	y.findJournal()
	return y.journal.Rules(share(budget, 0, y.demand()).space(), step)
}

func foldOf(l *memLog, budget int) *journal.Fold {
	return NewMemo().Fold(l, rulesAt(budget))
}

func TestKeptRecords(t *testing.T) {
	l := logOf(
		string(message("system", "Answer briefly.")),
		string(message("developer", "Use Go.")),
		string(message("user", "The very first request. "+weighing(500))),
		string(message("assistant", "Yes.")),
		string(message("user", "The request that is being worked on.")),
	)
	for i := range 40 {
		l.Append(message("assistant", fmt.Sprintf("Server s%d listens on port %d. %s", i, 4000+37*i, weighing(90))))
	}
	b := mustCompile(t, inputOf(l, 2000))
	md := string(b.Markdown)
	for _, want := range []string{
		"# Context Block: system messages\n## 1 system\nAnswer briefly.\n## 2 developer\nUse Go.\n# Context Block: notation\n",
		"\n# Context Block: conversation\n## 3 user\nThe very first request. ",
		"bytes left out, all of it in context/line/3.txt]",
		"\n# Context Block: key lines",
		"\n## 4 left out: ",
		"\n## 5 user\nThe request that is being worked on.\n## 6-",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
}

// A result that comes long after its call was compacted still stands in the pack and names it.
func TestLateResult(t *testing.T) {
	l := logOf(
		string(message("user", "Go.")),
		`{"role":"assistant","content":"","tool_calls":[{"id":"slow","name":"deploy","arguments":"{}"}]}`,
	)
	for range 60 {
		l.Append(message("assistant", weighing(90)))
	}
	l.Append([]byte(`{"role":"tool","tool_call_id":"slow","content":"deployed"}`))
	md := string(mustCompile(t, inputOf(l, 2000)).Markdown)
	if !strings.Contains(md, "\n## 63 tool deploy [call 2.1]\ndeployed\n") {
		t.Error(md)
	}
}

// One group that no budget holds: each of its records gets less rather than none.
func TestHugeGroup(t *testing.T) {
	pure(t)
	var calls []string
	for i := range 60 {
		calls = append(calls, fmt.Sprintf(`{"id":"c%d","name":"read","arguments":"{}"}`, i))
	}
	l := logOf(string(message("user", "Read all of it.")), `{"role":"assistant","content":null,"tool_calls":[`+strings.Join(calls, ",")+`]}`)
	for i := range 60 {
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, weighing(2000))))
	}
	for _, budget := range []int{500, 2000, 8000} {
		b := mustCompile(t, inputOf(l, budget))
		if n := count(t, "", b.Markdown); n > budget || n != b.Tokens {
			t.Errorf("%d tokens (stated %d) at %d", n, b.Tokens, budget)
		}
		if !strings.Contains(string(b.Markdown), "## 62 tool read") || !strings.Contains(string(b.Markdown), "Read all of it.") {
			t.Errorf("the newest result or the request is missing at %d:\n%s", budget, b.Markdown)
		}
	}
}

// No record can fail a build: the extremes that were met in real sessions, and beyond.
func TestExtremeRecords(t *testing.T) {
	pure(t)
	big := map[string]string{
		"find /":         strings.Repeat("/usr/share/doc/libfoo/changelog.Debian.gz\n", 16_000),
		"loop":           strings.Repeat("y\n", 600_000),
		"571,000 tokens": weighing(571_000),
		"16 MiB of x":    strings.Repeat("x", 16<<20-200),
		"base64":         strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo", 100_000),
		"brackets":       strings.Repeat("[", 1<<20),
		"ideographs":     strings.Repeat("龘", 1<<20),
		"newlines":       strings.Repeat("\n", 1<<20),
		"backticks":      strings.Repeat("`", 1<<16),
	}
	roles := []string{"user", "assistant", "tool", "system"}
	for i, name := range slices.Sorted(maps.Keys(big)) {
		content := big[name]
		for _, role := range suite.Pick(t, roles[i%4:i%4+1], roles) {
			l := logOf(string(message("user", "hi")), string(message(role, content)), string(message("assistant", "ok")))
			b := mustCompile(t, inputOf(l, 2000))
			if n := count(t, "", b.Markdown); n > 2000 || n != b.Tokens {
				t.Errorf("%s by %s: %d tokens, stated %d", name, role, n, b.Tokens)
			}
			if !strings.Contains(string(b.Markdown), "context/line/2.txt]") && name != "backticks" {
				t.Errorf("%s by %s: no path to the whole:\n%.2000s", name, role, b.Markdown)
			}
		}
	}
}

func TestNoLimit(t *testing.T) {
	l := longLog(400)
	l.Append(message("tool", weighing(20_000)))
	p := parseJSON(t, mustCompile(t, inputOf(l, 0)))
	if len(p.Omitted) != 0 || len(p.Items) != 3 || p.Items[0].Range != "1" || p.Items[1].Range != "2-401" || p.Items[1].Cut {
		t.Errorf("items %+v, omitted %+v", p.Items, p.Omitted)
	}
}

func TestTinyBudgets(t *testing.T) {
	pure(t)
	l := longLog(300)
	for budget := minJournal; budget < 700; budget += 13 {
		b := mustCompile(t, inputOf(l, budget))
		if n := count(t, "", b.Markdown); n > budget {
			t.Errorf("%d tokens at %d", n, budget)
		}
	}
	if _, err := compile(inputOf(l, 5)); !errors.Is(err, ctxabi.ErrOverBudget) {
		t.Errorf("a budget of 5: %v", err)
	}
}

// badDisk cannot read one record.
type badDisk struct {
	*memLog
	bad int
}

func (d badDisk) Record(line int) ([]byte, error) {
	if line == d.bad {
		return nil, errors.New("read error")
	}
	return d.memLog.Record(line)
}

func TestUnreadableRecord(t *testing.T) {
	l := longLog(120)
	in := inputOf(l, 3000)
	in.Messages = badDisk{l, 118}
	if _, err := compile(in); !errors.Is(err, ctxabi.ErrIO) || !strings.Contains(err.Error(), "118") {
		t.Errorf("got %v", err)
	}
	in.Messages = badDisk{l, 50} // behind the boundary, not shown
	mustCompile(t, in)
}

// Optional blocks never take more than their share, and a new line in one never moves the boundary.
func TestOptionalBlocks(t *testing.T) {
	l := longLog(400)
	var fs, longer []blocks.File
	for _, name := range optionalFiles {
		if name == "context/summary.md" { // the journal shows versions
			continue
		}
		text := strings.Repeat("a line of some length in this file\n", 2000)
		fs, longer = append(fs, fileOf(name, text)), append(longer, fileOf(name, text+"one more\n"))
	}
	plain := parseJSON(t, mustCompile(t, inputOf(l, 8000, longer...)))
	b := mustCompile(t, inputOf(l, 8000, fs...))
	full := parseJSON(t, b)
	if full.Compactions != plain.Compactions {
		t.Errorf("%d compactions, %d with one more line", full.Compactions, plain.Compactions)
	}
	optional, cut := 0, 0
	for _, it := range full.Items {
		if it.Source == "messages" {
			continue
		}
		optional += it.Tokens
		if it.Kind != "goal" {
			cut++
			if !it.Cut || it.Path == "" {
				t.Errorf("%s: cut %v, path %q", it.Source, it.Cut, it.Path)
			}
		}
	}
	// What the agent wrote has 400 tokens of its own; behind all of it no tokens are left for references.
	if optional > 8000*4/10 || cut != len(fs)-1 {
		t.Errorf("optional blocks take %d tokens in %d blocks", optional, cut)
	}
	left := regexp.MustCompile(`(?m)^\[\d+ (more lines|older rows left out|lines, \d+ bytes left out), all of (it|them) in (.*)\]$`)
	paths := map[string]bool{"context/refs.jsonl": true}
	for _, m := range left.FindAllStringSubmatch(string(b.Markdown), -1) {
		paths[m[3]] = true
	}
	for _, f := range fs {
		if !paths[f.Path] {
			t.Errorf("%s: no path to the rest", f.Path)
		}
	}
}
