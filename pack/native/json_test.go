package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestToolsText(t *testing.T) {
	for in, want := range map[string]string{
		"":     "",
		" \n":  "",
		"[]":   "[]\n",
		"{}":   "{}\n",
		"null": "null\n",
		"\ufeff[ {\"name\": \"ls\", \"description\": \"<list> & \\u0041\\/\"} ,\n{\"b\":2,\"a\":1} ]": "[\n{\"description\":\"<list> & A/\",\"name\":\"ls\"},\n{\"a\":1,\"b\":2}\n]\n",
		`{"version":1.50,"tools":[{"z":1e5,"a":{"y":[1,2],"x":-0.0}}],"big":123456789012345678901}`:   "{\"big\":123456789012345678901,\"tools\":[\n{\"a\":{\"x\":-0.0,\"y\":[1,2]},\"z\":1e5}\n],\"version\":1.50}\n",
		`["a","b"]`:          "[\"a\",\"b\"]\n",
		"[\"\u2028\"]":       "[\"\\u2028\"]\n",
		`{"a":1,"a":2}`:      "{\"a\":2}\n",
		`["日本\ud83d\ude00"]`: "[\"日本😀\"]\n",
	} {
		if got, err := ToolsText([]byte(in)); err != nil || got != want {
			t.Errorf("%q:\n got %q, %v\nwant %q", in, got, err, want)
		}
	}
	for _, in := range []string{"{", "[1,]", "tools", "[] []", "{\"a\":01}", "[1e]"} {
		if got, err := ToolsText([]byte(in)); !errors.Is(err, ctxabi.ErrMalformed) || got != "" {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// genJSON draws a value as JSON text, laid out and its keys ordered by layout: two texts of one value differ in nothing else.
func genJSON(t *rapid.T, depth int) (one, other string) {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		s := rapid.String().Draw(t, "string")
		data, _ := json.Marshal(s)
		return string(data), asciiJSON(data)
	case 1:
		n := rapid.SampledFrom([]string{"0", "-0", "1.50", "1e400", "12345678901234567890", "1E-7"}).Draw(t, "number")
		return n, n
	case 2:
		return "true", "true"
	case 3:
		return "null", " null\n"
	case 4:
		var a, b []string
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			x, y := genJSON(t, depth-1)
			a, b = append(a, x), append(b, y)
		}
		return "[" + strings.Join(a, ",") + "]", "[ " + strings.Join(b, " ,\n\t") + " ]"
	}
	var a, b []string
	for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c"\\é]{0,3}`), 0, 4, rapid.ID).Draw(t, "keys") {
		k, _ := json.Marshal(key)
		x, y := genJSON(t, depth-1)
		a, b = append(a, string(k)+":"+x), append([]string{asciiJSON(k) + " : " + y}, b...)
	}
	return "{" + strings.Join(a, ",") + "}", "{\n" + strings.Join(b, ",") + "}"
}

// asciiJSON spells the characters of a JSON string with \u where that is possible.
func asciiJSON(data []byte) string {
	var b strings.Builder
	for _, r := range string(data) {
		if r < 0x80 || r > 0xffff {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String()
}

func TestToolsAreTheSameHoweverTheyAreLaidOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genJSON(t, 3)
		x, err := ToolsText([]byte(a))
		if err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		y, err := ToolsText([]byte(b))
		if err != nil || x != y {
			t.Fatalf("%q and %q give\n%q\n%q, %v", a, b, x, y, err)
		}
		if again, err := ToolsText([]byte(x)); err != nil || again != x {
			t.Fatalf("not the same again: %q, %q, %v", x, again, err)
		}
	})
}

func FuzzToolsText(f *testing.F) {
	f.Add([]byte(`[{"name":"a","parameters":{"b":[1.0,"x"]}}]`))
	f.Add([]byte("\ufeff{\"tools\":[[],{}]} "))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := ToolsText(data)
		if err != nil || text == "" {
			return
		}
		if !json.Valid([]byte(text)) || text[len(text)-1] != '\n' {
			t.Fatalf("%q", text)
		}
		if again, err := ToolsText([]byte(text)); err != nil || again != text {
			t.Fatalf("%q, then %q, %v", text, again, err)
		}
	})
}
