package eval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func wordsOf(text string) (out []string) {
	eachWord(text, func(w string) { out = append(out, w) })
	return out
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		" .. -- // ":                             "",
		"Look at auth/refresh.go:88: it fails.":  "Look at auth/refresh.go:88 it fails",
		`{"path":"./src/a.go","n":12}`:           "path src/a.go n 12",
		`one\ntwo\t\"three\" C:\dir`:             "one two three C dir",
		"/etc/passwd, .gitignore, ../x, ..y":     "/etc/passwd .gitignore x .y",
		"#123 @ada user@example.com http://a.b/": "123 ada user@example.com http://a.b",
		`a\\tGROUP \\\\n\u001b[31mred \d`:        "a GROUP 31mred d",
		"naïve 東京。foo":                           "naïve 東京 foo",
		"a_b -flag --long=on end_":               "a_b flag long on end",
		"a[i].trim(f(x).join('.json'))":          "a i trim f x join .json",
		"bad \xff\xfe bytes":                     "bad bytes",
		"\x1b[38;21mflag\x1b[0m a\x1b[Kb \x1b":   "flag a b",
	} {
		if got := strings.Join(wordsOf(text), " "); got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestKinds(t *testing.T) {
	for want, words := range map[kind]string{
		identifier: "a.go /bin src/a a_bc x@yz C1-2 a1b2 camelCase MyType 123 2024-05-15 4WQ150 user:1 " + strings.Repeat("a/", 60)[:119],
		plain:      "word naïve Word WORD",
		other:      "a.b abc 12 a-b well-known x1 ab, " + strings.Repeat("a/", 61)[:121],
	} {
		for _, w := range strings.Fields(words) {
			if got := kindOf(strings.TrimSuffix(w, ",")); got != want {
				t.Errorf("%s is of kind %d, want %d", w, got, want)
			}
		}
	}
}

func TestLines(t *testing.T) {
	r := newReader()
	ids := func(text string) (out []string) {
		for _, l := range r.read(text) {
			for _, id := range l.ids {
				out = append(out, r.name(id))
			}
		}
		slices.Sort(out)
		return out
	}
	for text, want := range map[string]string{
		"## 12 tool run_tests [call 11.1]\nok 12.1": "12.1 run_tests",
		"[call 11.1] read_file {\"path\":\"a.go\"}": "a.go read_file",
		"## e7 tool\nx":         "",
		"## 100 reasons of 200": "200",
		"src/a.go:88:func main": "src/a.go src/a.go:88:func",
		`first.a\nsecond.b`:     "first.a second.b",
	} {
		if got := strings.Join(ids(text), " "); got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
	if r.read("a b c")[0] != r.read("a b c\n")[0] {
		t.Error("one line is two")
	}
}

func TestResembles(t *testing.T) {
	r := newReader()
	last := func(text string) *line {
		lines := r.read(text)
		return lines[len(lines)-1]
	}
	list := "a.go b.go c.go d.go e.go f.go g.go h.go i.go j.go k.go l.go m.go n.go o.go p.go q.go r.go s.go t.go u.go v.go w.go x.go y.go z.go 1.go 2.go 3.go 4.go"
	for _, c := range []struct {
		shown, original string
		want            bool
	}{
		{"one two three four five", "one two three four five", true},
		{"one two three", "one two three four five", true},
		{"one two", "one two three four five", false},
		{"[41] one two three four five", "one two three four five", true},
		{"five four three", "one two three four five", true},
		{"## 97 tool run (folded) 212 passed, 1 failed TestX x_test.go:41", "1 failed TestX x_test.go:41", true},
		{list, "a.go b.go", false},               // in a list of everything stands everything
		{"src/a.go", "listing\nsrc/a.go", false}, // a bare word
		{"listing\nsrc/a.go", "listing\nsrc/a.go", true},
		{"other\nsrc/a.go", "listing\nsrc/a.go", false},
		{"utf-8 : flag_1", "\x1b[38;21mutf-8 : flag_1\x1b[0m", true}, // without its colours
	} {
		if got := last(c.shown).resembles(last(c.original)); got != c.want {
			t.Errorf("%q of %q: %v", c.shown, c.original, got)
		}
	}
}

// What stands in the arguments of a call is what it is decoded, in a record, in a pack, and in what the agent says.
func TestEscapesInArgumentsAreNoIdentifiers(t *testing.T) {
	arguments := `{"sql":"select id\nfrom order_lines\\tGROUP","to":"caf\u00e9_1","by":"lib\/b"}`
	s := sessionOf(t, fmt.Appendf(nil, `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"query","arguments":%q}}]}`, arguments))
	want := "café_1 lib/b order_lines"
	for _, text := range []string{s.texts[0], s.spoken(1), "[call 1.1] query " + s.said[0].Calls[0].Arguments} {
		r := newReader()
		var ids []string
		for _, l := range r.read(text) {
			for _, id := range l.ids {
				ids = append(ids, r.name(id))
			}
		}
		slices.Sort(ids)
		if got := strings.Join(slices.Compact(ids), " "); got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
	r := newReader()
	from := r.read("from order_lines GROUP to café_1 by lib/b")
	if lines := r.read(s.spoken(1)); len(lines) != 2 || lines[1] != from[0] && !lines[1].resembles(from[0]) {
		t.Errorf("%d lines", len(lines))
	}
}

func FuzzUnescaped(f *testing.F) {
	for _, s := range []string{"", `\`, `a\n\\b`, `\u00e9\ud83d\ude00`, `\ud83d\u0041`, `\ud83dx`, `\u12`, `\x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil {
			t.Fatal(err)
		}
		if got := unescaped(string(quoted[1 : len(quoted)-1])); got != want {
			t.Errorf("%s\n got %q\nwant %q", quoted, got, want)
		}
		unescaped(s) // what is no JSON ends, too
		eachWord(s, func(string) {})
	})
}
