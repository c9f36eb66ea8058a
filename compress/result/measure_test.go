package result

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// The share of identifiers first seen in a tool's output and used in the agent's next 20 records that survives at a cap, in the
// sessions below CTXFS_TESTDATA, against head and tail. Only outputs above the cap count. Run it with
//
//	CTXFS_TESTDATA=… go test ./compress/result -run TestNeedles -v
func TestNeedles(t *testing.T) {
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		t.Skip("CTXFS_TESTDATA names no directory with sessions")
	}
	files, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions below %s: %v", dir, err)
	}
	type tally struct{ all, kept, base int }
	goals := map[int]float64{250: 0.55, 500: 0.78, 1000: 0.88}
	for _, limit := range []int{250, 500, 1000} {
		sum := map[string]*tally{}
		outputs, mean, baseMean := 0.0, 0.0, 0.0
		add := func(row string, ok, base bool) {
			if sum[row] == nil {
				sum[row] = &tally{}
			}
			sum[row].all++
			if ok {
				sum[row].kept++
			}
			if base {
				sum[row].base++
			}
		}
		for _, file := range files {
			set := filepath.Base(filepath.Dir(file))
			for _, o := range outputsOf(t, file) {
				if ctxabi.Weight(o.text) <= limit || len(o.needles) == 0 {
					continue
				}
				short, kind, _ := Shorten(o.text, Recognise(o.text, o.about), o.about, Limit{Tokens: limit}, path)
				if w := ctxabi.Weight(short); w > limit {
					t.Errorf("%s: weight %d above %d", kind, w, limit)
				}
				base, _ := compress.HeadTail(o.text, limit, path)
				own, naive := identifiersOf(original(short)), identifiersOf(original(base))
				lost := []string{}
				kept, baseKept := 0, 0
				for _, needle := range o.needles {
					for _, row := range []string{" all", "set " + set, "kind " + string(kind)} {
						add(row, own[needle], naive[needle])
					}
					if naive[needle] {
						baseKept++
					}
					if own[needle] {
						kept++
					} else {
						lost = append(lost, needle)
					}
				}
				outputs++
				mean += float64(kept) / float64(len(o.needles))
				baseMean += float64(baseKept) / float64(len(o.needles))
				if os.Getenv("CTXFS_SHOW_LOST") != "" && len(lost) > 0 {
					t.Logf("cap %d %s %s %.80s lost %d of %d: %.200v", limit, kind, o.about.Tool, o.about.Args, len(lost), len(o.needles), lost)
				}
			}
		}
		rows := []string{}
		for row := range sum {
			rows = append(rows, row)
		}
		slices.Sort(rows)
		for _, row := range rows {
			s := sum[row]
			t.Logf("cap %4d  %-20s %4d needles  ours %.3f  head and tail %.3f", limit, row, s.all, float64(s.kept)/float64(s.all), float64(s.base)/float64(s.all))
		}
		// One file of 11,000 tokens holds a fifth of all needles at the largest cap; the mean of the outputs gives each the same say.
		t.Logf("cap %4d  mean of %3.0f outputs           ours %.3f  head and tail %.3f", limit, outputs, mean/outputs, baseMean/outputs)
		if mean/outputs < goals[limit] {
			t.Errorf("cap %d: %.3f of an output's needles survive, the goal is %.2f", limit, mean/outputs, goals[limit])
		}
	}
}

// original is what of a shortened text is the source's: without lines of our own.
func original(short string) string {
	if gjson.Valid(short) {
		return short
	}
	var b strings.Builder
	for line := range strings.Lines(short) {
		if !strings.HasPrefix(line, "…") && !ourLine.MatchString(strings.TrimSuffix(line, "\n")) {
			b.WriteString(line)
		}
	}
	return b.String()
}

var ourLine = regexp.MustCompile(`^\[(\d+ lines?, )?\d+ bytes left out, all of it in .*\]$|^\[and \d+ more like it\]$|^\[\d+ results\]$|^\[a page.*\]$`)

// failing are the failures in the results of test runs below testdata/results: their names and what went wrong.
var failing = map[string][][2]string{
	"pytest": {
		{"test_float_is_refused", "amount must be an integer, got 1.5"}, {"test_export_json", "KeyError: 'json'"}, {"test_many[17]", "account-17 was rejected by rule R-51"},
		{"test_get[/v1/refunds]", "connect to 127.0.0.1:8443/v1/refunds refused"}, {"test_version", "assert '2.4.0' == '2.4.1'"},
	},
	"pytest_color": {
		{"test_float_is_refused", "amount must be an integer, got 1.5"}, {"test_export_json", "KeyError: 'json'"}, {"test_many[17]", "account-17 was rejected by rule R-51"},
		{"test_get[/v1/refunds]", "connect to 127.0.0.1:8443/v1/refunds refused"}, {"test_version", "assert '2.4.0' == '2.4.1'"},
	},
	"gotest": {
		{"TestTotal", "Total() = 6, want 7"}, {"TestCheckoutEmpty", "Checkout() = <nil>, want shop: cart is empty"}, {"TestRefresh/attempt_4", "token expired: refresh_token_4 not renewed"},
		{"TestPanics", "panic: assignment to entry in nil map"},
	},
	"cargo_test": {
		{"tests::parses_price", "ParseIntError { kind: InvalidDigit }"}, {"tests::total_of_none", "an empty cart costs nothing"}, {"tests::total_of_two", "assertion `left == right` failed"},
		{"tests::refuses_words", "test did not panic as expected"},
	},
	"node_test": {
		{"adds prices", "3 !== 4"}, {"coupon 23 is valid", "coupon C-161 expired"}, {"refuses empty cart", "Cannot read properties of undefined (reading 'items')"},
	},
	"cargo_build": {{"E0425", "cannot find value `missing`"}, {"E0308", "mismatched types"}},
	"gcc":         {{"a.c:4:46", "has no member named"}, {"a.c:5:134", "undeclared (first use in this function)"}},
}

// The share of failing tests whose names and messages survive at a cap of 500, against the tail.
func TestFailingTests(t *testing.T) {
	for _, limit := range []int{250, 500} {
		var names, messages, tailNames, tailMessages, all float64
		for _, g := range goldens {
			text := resultOf(t, g.name)
			if len(failing[g.name]) == 0 || ctxabi.Weight(text) <= limit {
				continue
			}
			short, _, _ := Shorten(text, Recognise(text, g.about), g.about, Limit{Tokens: limit}, path)
			short = original(short)
			clean := Plain(text)
			tail := tailWithin(clean, limit)
			for _, f := range failing[g.name] {
				if !strings.Contains(clean, f[0]) || !strings.Contains(clean, f[1]) {
					t.Fatalf("%s does not hold %q", g.name, f)
				}
				count := func(in string, what string, sum *float64) {
					if strings.Contains(in, what) {
						*sum++
					} else if sum == &names || sum == &messages {
						t.Logf("cap %d, %s: lost %q", limit, g.name, what)
					}
				}
				all++
				count(short, f[0], &names)
				count(short, f[1], &messages)
				count(tail, f[0], &tailNames)
				count(tail, f[1], &tailMessages)
			}
		}
		t.Logf("cap %d: %.0f failures, names %.2f, messages %.2f; the tail alone: %.2f, %.2f", limit, all, names/all, messages/all, tailNames/all, tailMessages/all)
		if limit == 500 && (names/all < 0.90 || messages/all < 0.85) {
			t.Errorf("the goals are .90 of the names and .85 of the messages")
		}
	}
}

// tailWithin returns the last lines of a text that fit in limit tokens.
func tailWithin(text string, limit int) string {
	for text != "" && ctxabi.Weight(text) > limit {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

type output struct {
	text    string
	about   Hint
	needles []string
}

// outputsOf returns the results of tools in a session with the identifiers that stand nowhere before
// and are used soon after.
func outputsOf(t *testing.T, file string) (out []output) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var records []ctxabi.Message
	for line := range strings.Lines(string(data)) {
		records = append(records, ctxabi.DecodeMessage([]byte(strings.TrimSpace(line))))
	}
	calls := map[string]ctxabi.Call{}
	seen := map[string]bool{}
	said := func(m ctxabi.Message) map[string]bool {
		text := m.Text
		for _, c := range m.Calls {
			text += "\n" + c.Name + "\n" + strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(c.Arguments)
		}
		return identifiersOf(text)
	}
	for i, m := range records {
		for _, c := range m.Calls {
			calls[c.ID] = c
		}
		ids := said(m)
		if m.Role == ctxabi.Tool {
			used := map[string]bool{}
			for _, next := range records[i+1 : min(len(records), i+21)] {
				if next.Role == ctxabi.Assistant {
					for id := range said(next) {
						used[id] = true
					}
				}
			}
			o := output{text: m.Text, about: Hint{Tool: calls[m.CallID].Name, Args: calls[m.CallID].Arguments}}
			if m.Name != "" {
				o.about.Tool = m.Name
			}
			for id := range ids {
				if used[id] && !seen[id] {
					o.needles = append(o.needles, id)
				}
			}
			slices.Sort(o.needles)
			out = append(out, o)
		}
		for id := range ids {
			seen[id] = true
		}
	}
	return out
}

var identifier = regexp.MustCompile(`[\pL\pN_./:@#-]+`)

// identifiersOf returns the strings of 4 to 120 characters with one of / . _ : @ #, or a letter
// beside a digit, or camelCase, and the numbers of at least 3 digits.
func identifiersOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, word := range identifier.FindAllString(text, -1) {
		word = strings.Trim(word, ".:-/#@")
		switch {
		case regexp3.MatchString(word):
		case len(word) < 4 || len(word) > 120 || !special.MatchString(word):
			continue
		}
		out[word] = true
	}
	return out
}

var (
	regexp3 = regexp.MustCompile(`^\d{3,}$`)
	special = regexp.MustCompile(`[/._:@#]|\pL\pN|\pN\pL|[a-z][A-Z]`)
)
