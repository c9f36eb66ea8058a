package notes

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// quoted returns the units that are not leads, each prefixed by the units that it refers to.
func quoted(text, role string) (out []string) {
	units := Quotes(text, role)
	line := func(i int) string { return strings.Join(strings.Fields(text[units[i].From:units[i].To]), " ") }
	for i, u := range units {
		if u.Lead {
			continue
		}
		s := line(i)
		for under := u.Under; under > 0; under = units[under-1].Under {
			s = line(under-1) + " / " + s
		}
		out = append(out, s)
	}
	return out
}

func TestQuotes(t *testing.T) {
	for _, c := range []struct {
		name, role, text string
		want             []string
	}{
		{"a wrapped sentence is whole", "",
			"It is not true that the server\nkeeps the sessions in memory. They\nare stored on disk.\n",
			[]string{"It is not true that the server keeps the sessions in memory.",
				"It is not true that the server keeps the sessions in memory. / They are stored on disk."}},
		{"a commit message", "",
			"    Drop the old cache\n\n" +
				"    We never used it for anything but the list of\n    users, and the list is short.\n",
			[]string{"Drop the old cache",
				"We never used it for anything but the list of users, and the list is short."}},
		{"a quotation in an e-mail", "", "> We do not want to move the\n> servers to another country.\n",
			[]string{"> We do not want to move the > servers to another country."}},
		{"Japanese", "user", "犬の名前はポチで、七歳です。来月は京都へ引っ越します。", []string{"犬の名前はポチで、七歳です。", "来月は京都へ引っ越します。"}},
		{"a list has its introduction", "assistant",
			"Never do one of these:\n\n- delete the database\n  of a customer\n- push to main\n",
			[]string{"Never do one of these: / - delete the database of a customer",
				"Never do one of these: / - push to main"}},
		{"a row has its header", "", "| host | port |\n| --- | --- |\n| alpha | 8443 |\n| beta | 9001 |\n",
			[]string{"| host | port | / | alpha | 8443 |", "| host | port | / | beta | 9001 |"}},
		{"a heading is no quote, but its sentences have it", "assistant",
			"## Rejected\n\nUse a queue between both services.\n",
			[]string{"## Rejected / Use a queue between both services."}},
		{"code stays lines", "", "def run(self, x):\n    if x is None:\n        return 0\n",
			[]string{"def run(self, x):", "if x is None:", "return 0"}},
		{"a listing stays lines", "",
			"drwxr-xr-x 3 root root 4096 Nov 28 16:21 .\ndrwxr-xr-x 9 root root 4096 Nov 28 16:21 docs\n",
			[]string{"drwxr-xr-x 3 root root 4096 Nov 28 16:21 .", "drwxr-xr-x 9 root root 4096 Nov 28 16:21 docs"}},
		{"no access log", "",
			"2026-03-09T14:02:11.643Z INFO request GET /v1/rates carrier=postnord status=201 ms=141\n" +
				"127.0.0.1 - - [10/Oct/2000:13:55:36] \"GET /x HTTP/1.0\" 404 23\n" +
				"2026-03-09T14:02:12Z INFO request GET /v1/rates status=503 ms=3\n",
			[]string{"2026-03-09T14:02:12Z INFO request GET /v1/rates status=503 ms=3"}},
		{"no progress bar", "",
			" 45%|████▌     | 45/100 [00:01<00:01, 35.2it/s]\nremote: Counting objects:  10% (1/10)\n", nil},
		{"no passed test", "",
			"=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.01s)\n" +
				"ok  \texample.com/a\t0.01s\nt.py::test_x PASSED [ 50%]\n",
			[]string{"--- FAIL: TestB (0.01s)"}},
		{"no ledger", "assistant",
			`{"is_request_satisfied": {"reason": "Not yet, the search goes on.", "answer": false}}`, nil},
		{"no announcement", "assistant", "Let me look at the file. The cause is a missing lock in the cache.",
			[]string{"The cause is a missing lock in the cache."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := quoted(c.text, c.role); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

// Units are in order, do not overlap, and refer only to earlier units.
func TestQuotesProperties(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"", "# Title", "A sentence that is wrapped at the end of its line, and", "goes on. Then it ends.",
		"- an item:", "  - another one", "| a | b |", "| - | - |", "```", "x := f(1)",
		"犬の名前はポチです。そう\xff", "**Bold**", "12→ text", "a\rb", "> cited",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 20).Draw(t, "lines"), "\n")
		last := 0
		for i, u := range Quotes(text, rapid.SampledFrom([]string{"", "user", "assistant"}).Draw(t, "role")) {
			if u.From < last || u.From >= u.To || u.To > len(text) || u.Under > i {
				t.Fatalf("unit %d is %+v after byte %d of %q", i, u, last, text)
			}
			last = u.To
		}
	})
}
