package install

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

// anyJSON draws settings as people and programs write them.
func anyJSON(t *rapid.T) string {
	unit := rapid.SampledFrom([]string{"  ", "\t", "    ", " ", ""}).Draw(t, "unit")
	nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	blank := func() string {
		return rapid.SampledFrom([]string{"", "", " ", nl, nl + unit, " // c" + nl, " /* c */ ", nl + nl + unit + unit}).Draw(t, "blank")
	}
	var value func(depth int) string
	list := func(open, end string, depth int, item func() string) string {
		n := rapid.IntRange(0, 3).Draw(t, "items")
		var b strings.Builder
		b.WriteString(open)
		for i := range n {
			b.WriteString(blank() + item() + blank())
			if i < n-1 || rapid.Bool().Draw(t, "comma") {
				b.WriteString(",")
			}
		}
		b.WriteString(blank() + end)
		return b.String()
	}
	object := func(depth int, names []string) string {
		left := slices.Clone(names)
		return list("{", "}", depth, func() string {
			n := rapid.IntRange(0, len(left)-1).Draw(t, "name")
			name := left[n]
			left = slices.Delete(left, n, n+1)
			switch {
			case name == "hooks" && depth == 0, name == "mcpServers", name == "mcp":
				return `"` + name + `":` + blank() + value(-depth-1)
			case depth < 0 && slices.Contains([]string{"Stop", "SessionEnd"}, name):
				return `"` + name + `":` + list("[", "]", depth, func() string {
					return `{"hooks":` + blank() + list("[", "]", depth, func() string {
						return `{"command":"` + rapid.SampledFrom([]string{"x", "ctxfs gc"}).Draw(t, "hook") + `"}`
					}) + `}`
				})
			}
			return `"` + name + `"` + blank() + ":" + blank() + value(depth+1)
		})
	}
	value = func(depth int) string {
		if depth < 0 { // an object
			return object(depth, []string{"Stop", "SessionEnd", "other", "más"})
		}
		switch k := rapid.IntRange(0, 6).Draw(t, "kind"); {
		case k == 0 && depth < 3:
			return list("[", "]", depth, func() string { return value(depth + 1) })
		case k == 1 && depth < 3:
			return object(depth+1, []string{"a", "b", "c"})
		case k < 4:
			b, _ := json.Marshal(rapid.String().Draw(t, "text"))
			return string(b)
		}
		return rapid.SampledFrom([]string{"1", "-2.50e3", "true", "null", "12345678901234567890"}).Draw(t, "word")
	}
	bom := rapid.SampledFrom([]string{"", "", "\xef\xbb\xbf"}).Draw(t, "bom")
	return bom + blank() + object(0, []string{"hooks", "mcpServers", "mcp", "model"}) + blank()
}

// Whatever is in the settings, it is there again afterwards, byte for byte; and with an edit in between, all but what is of ctxfs is there.
func TestWhatIsConnectedAndDisconnectedIsAsBefore(t *testing.T) {
	programs := map[string]string{
		"claude-code": "home/.claude/settings.json", "codex": "home/.codex/hooks.json",
		"gemini": "home/.gemini/settings.json", "opencode": "home/.config/opencode/opencode.json",
	}
	rapid.Check(t, func(rt *rapid.T) {
		before := anyJSON(rt)
		if _, err := parseJSON([]byte(before)); err != nil {
			rt.Fatalf("%q: %v", before, err)
		}
		program := rapid.SampledFrom([]string{"claude-code", "codex", "gemini", "opencode"}).Draw(rt, "program")
		file := programs[program]
		m := empty(t)
		m.write(file, before)
		m.connect(program, m.options())
		if again := m.connect(program, m.options()); len(again) != 0 {
			rt.Fatalf("the second time changes %+v of\n%s", again, m.read(file))
		}
		p, _ := Lookup(program)
		if s := Look(p, m.options()); !s.Hooks || !s.Server || s.Err != nil {
			rt.Fatalf("%+v after\n%s\nbecame\n%s", s, before, m.read(file))
		}
		connected := m.read(file)
		if comments(before) != comments(connected) {
			rt.Fatalf("comments of\n%s\nare not those of\n%s", before, connected)
		}
		if rapid.Bool().Draw(rt, "edit") {
			edited := addMember(rt, connected)
			m.write(file, edited)
			m.disconnect(program, m.options())
			want, err := plainOf(addMember(rt, before))
			got, err2 := plainOf(m.read(file))
			if err != nil || err2 != nil || !equalButEmpty(got, want) {
				rt.Fatalf("%v, %v: after an edit\n%s\nbecame\n%s", err, err2, edited, m.read(file))
			}
			if comments(before) != comments(m.read(file)) {
				rt.Fatalf("comments of\n%s\nare not those of\n%s", before, m.read(file))
			}
			return
		}
		m.disconnect(program, m.options())
		if got := m.read(file); got != before {
			rt.Fatalf("%q became %q", before, got)
		}
		if left := m.files(); slices.ContainsFunc(left, func(name string) bool { return strings.Contains(name, "ctxfs") }) {
			rt.Fatalf("it leaves %q", left)
		}
	})
}

// comments returns how many comments a text has; texts that are drawn have them nowhere else.
func comments(text string) int { return strings.Count(text, " // c") + strings.Count(text, " /* c */") }

// addMember is what a program does to its settings.
func addMember(t *rapid.T, text string) string {
	d, err := parseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	d.add(spot{value: &d.root}, "added by the program", 1)
	return string(d.text())
}

func plainOf(text string) (v map[string]any, err error) {
	b, err := hujson.Standardize(bytes.TrimPrefix([]byte(text), byteOrderMark))
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	return v, err
}

// equalButEmpty compares settings without members that are empty: those that were there before cannot be told from ours.
func equalButEmpty(a, b map[string]any) bool {
	for _, v := range []map[string]any{a, b} {
		for _, name := range []string{"hooks", "mcpServers", "mcp"} {
			in, ok := v[name].(map[string]any)
			for event, groups := range in {
				if list, ok := groups.([]any); ok && len(list) == 0 {
					delete(in, event)
				}
			}
			if ok && len(in) == 0 {
				delete(v, name)
			}
		}
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
