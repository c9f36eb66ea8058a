package result

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// repeats are real-looking contents that repeat an earlier one, below testdata/repeats; the earlier
// ones are results of the other tests.
var repeats = []struct {
	name, old string
	about     Hint
}{
	{"file_again", "file_go", Hint{Tool: "read_file", Args: `{"path":"ledger.go"}`}},
	{"file_edited", "file_go", Hint{Tool: "read_file", Args: `{"path":"ledger.go"}`}},
	{"file_numbered", "", bash("cat -n ledger.go")},
	{"file_part", "file_go", bash("sed -n 61,140p ledger.go")},
	{"test_again", "pytest", bash("python -m pytest -v")},
	{"log_again", "progress", bash("docker compose up")},
	{"listing", "find", bash("find . -type f")},
	{"json_again", "json_orders", Hint{Tool: "list_orders"}},
	{"json_page", "json_orders", Hint{Tool: "list_orders"}},
}

func repeatFile(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "repeats", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRepeatGolden(t *testing.T) {
	for _, r := range repeats {
		t.Run(r.name, func(t *testing.T) {
			var old, new string
			if r.old == "" {
				old = repeatFile(t, r.name+".old")
			} else {
				old = resultOf(t, r.old)
			}
			if strings.HasSuffix(r.name, "_again") && r.name != "test_again" && r.name != "log_again" {
				new = old
			} else {
				new = repeatFile(t, r.name+".new")
			}
			short, ok := Repeat(old, new, Recognise(new, r.about), "41", path)
			if !ok {
				t.Fatalf("no repeat:\n%s", short)
			}
			if err := wrongRepeat(old, new, short); err != "" {
				t.Errorf("%s:\n%s", err, short)
			}
			file := filepath.Join("testdata", "repeats", r.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(short), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if want := repeatFile(t, r.name+".txt"); want != short {
				t.Errorf("got\n%s\nwant\n%s", short, want)
			}
		})
	}
}

// wrongRepeat returns what is wrong with a reference from new to old, "" for nothing: it is JSON, or
// lines of new in their order and lines of its own.
func wrongRepeat(old, new, short string) string {
	if !strings.Contains(short, path) || !strings.Contains(short, "the same as ") {
		return "there is no reference"
	}
	at := 0
	lines := splitLines(new)
	if isJSON(new) {
		lines = splitLines(gjson.Get(new, "@pretty").Raw)
	}
	for i, line := range splitLines(short) {
		if i == 0 || line == "…" || strings.HasPrefix(line, "[line") {
			continue
		}
		for at < len(lines) && lines[at] != line {
			at++
		}
		if at == len(lines) {
			return "no line of it, or not in their order: " + line
		}
		at++
	}
	return ""
}

// What differs in more than a time or the number of a line stands in the reference.
func TestRepeatHidesNothing(t *testing.T) {
	row := func(i int, s string) string {
		return "2025-06-03T09:00:00Z worker " + strings.Repeat("x", i%7) + " " + s
	}
	var rows []string
	for i := range 60 {
		rows = append(rows, row(i, "handled"))
	}
	old := strings.Join(rows, "\n") + "\n"
	for _, c := range []struct {
		was, is string
		kind    Kind
		shown   bool
	}{
		{"handled in 31 ms", "handled in 38 ms", KindLog, false},
		{"handled in 31 ms", "handled in 38 ms", KindFile, true},
		{"timeout = 30", "timeout = 60", KindFile, true},
		{"job 41 handled", "job 42 handled", KindLog, true},
		{"Error: gave up after 30s", "Error: gave up after 60s", KindLog, true},
		{"at 0x7f3a00c1d2 in main", "at 0x7f3a00c1e8 in main", KindLog, false},
	} {
		a := strings.Replace(old, rows[30], row(30, c.was), 1)
		b := strings.Replace(old, rows[30], row(30, c.is), 1)
		short, ok := Repeat(a, b, c.kind, "7", path)
		if !ok || strings.Contains(short, c.is) != c.shown || strings.Contains(short, "but for times") == c.shown {
			t.Errorf("%s → %s as %s: %v\n%s", c.was, c.is, c.kind, ok, short)
		}
	}
	if text, ok := Repeat(old, strings.Repeat("another content altogether\n", 60), KindText, "7", path); ok {
		t.Errorf("another content is a repeat:\n%s", text)
	}
}

func TestRepeatedLinesProperties(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "", "}", "a line that is somewhat longer than the others", "[call 1.1] x", "```", "…", "09:00:01 took 3 ms", "{", `{"a":1}`})
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(line, 1, 60).Draw(t, "a")
		b := append([]string{}, a...)
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			i := rapid.IntRange(0, len(b)).Draw(t, "at")
			if rapid.Bool().Draw(t, "add") {
				b = append(b[:i:i], append([]string{line.Draw(t, "line")}, b[i:]...)...)
			} else if i < len(b) && len(b) > 1 {
				b = append(b[:i:i], b[i+1:]...)
			}
		}
		kind := rapid.SampledFrom([]Kind{KindLog, KindFile}).Draw(t, "kind")
		r := repeat{kind: kind}
		key, _ := r.keyOf(a, b)
		of := matchLines(a, b, key)
		last := -1
		for i, at := range of {
			if at < 0 {
				continue
			}
			if at <= last || key(a[at]) != key(b[i]) {
				t.Fatalf("line %d of b is said to be line %d of a", i, at)
			}
			last = at
		}
		old, new := strings.Join(a, "\n"), strings.Join(b, "\n")
		if short, ok := Repeat(old, new, kind, "3", path); ok {
			if len(short) >= len(new) {
				t.Fatalf("%d bytes in place of %d", len(short), len(new))
			}
			if wrong := wrongRepeat(old, new, short); wrong != "" {
				t.Fatalf("%s:\n%s", wrong, short)
			}
		}
	})
}

// A repeat of JSON shows its new lines, indented.
func TestRepeatOfJSON(t *testing.T) {
	item := func(i int, status string) string {
		return `{"id": ` + string(rune('1'+i)) + `, "status": "` + status + `", "note": "` + strings.Repeat("n", 60) + `"}`
	}
	var items []string
	for i := range 8 {
		items = append(items, item(i, "paid"))
	}
	old := `{"page": 1, "items": [` + strings.Join(items, ", ") + `], "gone": true}`
	items[3] = item(3, "refunded")
	short, ok := Repeat(old, `{"page":2,"items":[`+strings.Join(items, ",")+`]}`, KindJSON, "7", path)
	want := "[mostly the same as 7 above as indented JSON: 42 of 45 lines, 824 bytes, all of it in " + path + `]
…
[line 2 for line 2 of 7]
  "page": 2,
…
[line 21 for line 21 of 7]
      "status": "refunded",
…
[line 44 for lines 44-45 of 7]
  ]
…`
	if !ok || short != want {
		t.Errorf("%v\n%s", ok, short)
	}
}

func FuzzRepeat(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n", "log")
	f.Add(`{"a":[1,2,3]}`, `{"a":[1,2,4]}`, "json")
	f.Add(strings.Repeat("line\n", 100), strings.Repeat("line\n", 90), "file")
	f.Fuzz(func(t *testing.T, old, new, kind string) {
		short, ok := Repeat(old, new, Kind(kind), "3", path)
		if ok && len(short) >= len(new) {
			t.Errorf("%d bytes in place of %d", len(short), len(new))
		}
	})
}
