package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// inspected is the example session in a store without a mount. At 6,000 tokens the prompt has a
// major compaction at message 288 and a minor one at message 298.
type inspected struct {
	t      *testing.T
	store  string
	dir    string // of the session
	budget string // in tokens
}

func newInspected(t *testing.T) *inspected {
	t.Helper()
	s := &inspected{t: t, store: filepath.Join(t.TempDir(), "store"), budget: "6000"}
	s.run("session", "new", "coder/s1")
	s.dir = filepath.Join(s.store, "home", fmt.Sprint(os.Getuid()), "agent/coder/session/s1")
	for _, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
		log, err := os.ReadFile(filepath.Join(harness.Root(), "examples/session", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, name), log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run runs a verb on the store and returns its output. Exit code 1 of diff reports a difference.
func (s *inspected) run(args ...string) string {
	s.t.Helper()
	args = append(args, "--store", s.store)
	if args[0] != "session" {
		args = append(args, "--budget", s.budget)
	}
	cmd := exec.Command(harness.Binary(s.t), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(args[0] == "diff" && errors.As(err, &exit) && exit.ExitCode() == 1) {
		s.t.Fatalf("ctxfs %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// json runs a verb with --json and decodes its output into v.
func (s *inspected) json(v any, args ...string) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.run(append(args, "--json")...)), v); err != nil {
		s.t.Fatal(err)
	}
}

// blocks returns the headings of the present pack that begin with a name.
func (s *inspected) blocks(name string) (ids []string) {
	s.t.Helper()
	for line := range strings.Lines(s.run("pack", "coder/s1")) {
		if id, ok := strings.CutPrefix(line, "# Context Block: "); ok && strings.HasPrefix(id, name+" (") {
			ids = append(ids, strings.TrimSuffix(id, "\n"))
		}
	}

	if len(ids) == 0 {
		s.t.Fatalf("the pack has no block %s", name)
	}
	return ids
}

type diffed struct {
	Blocks []struct {
		ID     string `json:"id"`
		Range  string `json:"range"`
		What   string `json:"what"`
		Before int    `json:"before_tokens"`
		After  int    `json:"after_tokens"`
	} `json:"blocks"`
	Names []struct {
		Name      string `json:"name"`
		Unchanged int    `json:"unchanged_blocks"`
		Before    int    `json:"before_tokens"`
		After     int    `json:"after_tokens"`
	} `json:"names"`
}

// A diff compares only blocks of one range. A major compaction replaces blocks, a minor one adds
// some.
func TestDiffComparesDifferentGenerations(t *testing.T) {
	s := newInspected(t)
	history := []string{"user's words", "summary", "files and runs", "decisions", "key lines"}
	for _, c := range []struct {
		from, to, want string
		unchanged      bool
	}{
		{"coder/s1@240", "coder/s1@288", "major", false},
		{"coder/s1@288", "coder/s1@305", "minor", true},
	} {
		var d diffed
		s.json(&d, "diff", c.from, c.to)
		text := s.run("diff", c.from, c.to)
		removed, added := 0, 0
		for _, b := range d.Blocks {
			name, _, _ := strings.Cut(b.ID, " (")
			if !slices.Contains(history, name) {
				continue
			}
			switch b.What {
			case "removed":
				removed++
			case "added":
				added++
			default:
				t.Errorf("%s: %s %s", c.want, b.What, b.ID)
			}
			if b.Range == "" || b.What == "added" && b.Before != 0 || b.What == "removed" && b.After != 0 {
				t.Errorf("%s: %+v", c.want, b)
			}
			if !strings.Contains(text, b.ID) {
				t.Errorf("%s: the text does not name %s:\n%s", c.want, b.ID, text)
			}
		}
		if added == 0 || (removed == 0) != c.unchanged {
			t.Errorf("%s: %d added, %d removed", c.want, added, removed)
		}

		// The totals of names agree with the changes.
		if len(d.Names) == 0 {
			t.Errorf("%s: no totals", c.want)
		}
		for _, n := range d.Names {
			sum := 0
			for _, b := range d.Blocks {
				if strings.HasPrefix(b.ID, n.Name+" (") {
					sum += b.After - b.Before
				}
			}
			if n.After-n.Before != sum || (n.Unchanged > 0) != c.unchanged {
				t.Errorf("%s: %+v, the changes add up to %d", c.want, n, sum)
			}
		}
	}
}

type explained struct {
	ID          string `json:"id"`
	Shown       bool   `json:"shown"`
	Source      string `json:"source"`
	Given       int    `json:"given_tokens"`
	Why         string `json:"why"`
	Generations []struct {
		ID     string `json:"id"`
		Range  string `json:"range"`
		Tokens int    `json:"tokens"`
		First  int    `json:"first_line"`
		Last   int    `json:"last_line"`
	} `json:"generations"`
}

// Why of a name lists all blocks of the pack with this name, and each at the lines of pack.md.
func TestWhyHidesGenerations(t *testing.T) {
	s := newInspected(t)
	for _, name := range []string{"summary", "key lines", "decisions", "files and runs", "user's words"} {
		var b explained
		s.json(&b, "why", "coder/s1", name)
		pack := strings.SplitAfter(s.run("pack", "coder/s1"), "\n")
		var ids []string
		sum := 0
		for _, g := range b.Generations {
			ids = append(ids, g.ID)
			sum += g.Tokens
			heading, next := pack[g.First-1], pack[g.Last]
			placed := heading == "# Context Block: "+g.ID+"\n" && (strings.HasPrefix(next, "# Context Block: ") || strings.HasPrefix(next, "[ctxfs "))
			if !placed || g.Range == "" {
				t.Errorf("%s: %+v", name, g)
			}
		}
		if want := s.blocks(name); strings.Join(ids, ", ") != strings.Join(want, ", ") || !b.Shown || b.Given != sum {
			t.Errorf("%s: %+v, want %q", name, b, want)
		}

		// The text names each block and its place, and each block can be asked for alone.
		text := s.run("why", "coder/s1", name)
		for _, g := range b.Generations {
			place := fmt.Sprintf("lines %d-%d of pack.md", g.First, g.Last)
			if !strings.Contains(text, place) || !strings.Contains(text, g.ID) {
				t.Errorf("%s misses %+v:\n%s", name, g, text)
			}
			var one explained
			s.json(&one, "why", "coder/s1", g.ID)
			if len(one.Generations) != 1 || one.Given != g.Tokens {
				t.Errorf("%s: %+v", g.ID, one)
			}
		}
	}
}

// The summary of compacted records has a block for each generation.
func TestWhyListsSummaryGenerations(t *testing.T) {
	s := newInspected(t)
	var b explained
	s.json(&b, "why", "coder/s1", "summary")
	want := s.blocks("summary")
	var ids []string
	for _, g := range b.Generations {
		ids = append(ids, g.ID)
	}
	if strings.Join(ids, ", ") != strings.Join(want, ", ") {
		t.Errorf("%+v, want %q", b, want)
	}
}

// A block that pack.json does not mention has no known reason: the file may exist and be empty.
func TestWhyInventsMissingFile(t *testing.T) {
	s := newInspected(t)
	if err := os.MkdirAll(filepath.Join(s.dir, "../../knowledge"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"knowledge", "facts"} {
		var b explained
		s.json(&b, "why", "coder/s1", name)
		if b.Shown || !strings.Contains(b.Why, "gives no reason") {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// citedIn returns the address of the first record that a block of the pack cites in parentheses.
func (s *inspected) citedIn(id string) string {
	s.t.Helper()
	_, block, _ := strings.Cut(s.run("pack", "coder/s1"), "# Context Block: "+id+"\n")
	block, _, _ = strings.Cut(block, "# Context Block: ")
	_, address, ok := strings.Cut(block, " (messages:")
	if !ok {
		s.t.Fatalf("the block %s cites no record", id)
	}
	number, _, _ := strings.Cut(address, ")")
	return "messages:" + number
}

// Why of a record names the block that contains each line about it.
func TestWhyNamesNoGeneration(t *testing.T) {
	s := newInspected(t)
	summary := s.blocks("summary")[1]
	for record, want := range map[string]string{
		"messages:212":     "  cited   " + s.blocks("user's words")[0] + ": [212] ",
		s.citedIn(summary): "  cited   " + summary + ": ",
		"messages:103":     "  line    " + s.blocks("key lines")[0] + ": ",
	} {
		if out := s.run("why", "coder/s1", record); !strings.Contains(out, want) {
			t.Errorf("%s misses %q:\n%s", record, want, out)
		}
	}
}

// Stats counts the blocks of a name together, and not as records in full.
func TestStatsCountsBlocksAsRecords(t *testing.T) {
	s := newInspected(t)
	var stats struct {
		Points []struct {
			Zones map[string]int `json:"zones"`
		} `json:"points"`
	}
	s.json(&stats, "stats", "coder/s1", "--points", "1", "--calls", "1")
	zones := stats.Points[0].Zones
	for zone, name := range map[string]string{
		"summary": "summary", "key_lines": "key lines",
		"files_and_runs": "files and runs", "user_words": "user's words",
	} {
		var b explained
		s.json(&b, "why", "coder/s1", name)
		if zones[zone] != b.Given {
			t.Errorf("%s: %d tokens, why has %d", zone, zones[zone], b.Given)
		}
	}

	var account struct {
		Items []struct {
			Kind   string `json:"kind"`
			Tokens int    `json:"tokens"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(s.run("pack", "coder/s1", "--format", "json")), &account); err != nil {
		t.Fatal(err)
	}
	full := 0
	for _, it := range account.Items {
		if it.Kind == "recent_messages" {
			full += it.Tokens
		}
	}
	if zones["full"]+zones["shortened"] != full {
		t.Errorf("%d tokens in full and %d shortened, the records have %d", zones["full"], zones["shortened"], full)
	}
}

// Recall has one item of pack.json for each record that it shows.
func TestWhyCountsOneItem(t *testing.T) {
	s := newInspected(t)
	s.budget = "8000"
	var account struct {
		Items []struct {
			ID     string `json:"id"`
			Tokens int    `json:"tokens"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(s.run("pack", "coder/s1", "--format", "json")), &account); err != nil {
		t.Fatal(err)
	}
	items, tokens := 0, 0
	for _, it := range account.Items {
		if it.ID == "recall" {
			items++
			tokens += it.Tokens
		}
	}
	if items < 2 {
		t.Fatalf("recall has %d items", items)
	}

	var b explained
	if s.json(&b, "why", "coder/s1", "recall"); b.Given != tokens {
		t.Errorf("%d tokens, the items have %d", b.Given, tokens)
	}
}
