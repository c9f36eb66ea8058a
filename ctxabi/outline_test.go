package ctxabi

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// outlineByParts is what an Outliner says, by way of everything that it spares.
func outlineByParts(line []byte) (o Outline) {
	m := decodeByLibrary(line)
	o.Weight = m.Weight()
	if CheckMessage(line) != nil {
		return o
	}
	o.Role, o.Images, o.Answers, o.HasResults = m.Role, m.Images, m.CallID, len(m.Results) > 0
	for _, c := range m.Calls {
		o.Calls = append(o.Calls, c.ID)
	}
	if o.HasResults && o.Answers == "" {
		o.Answers = m.Results[0].CallID
	}
	return o
}

// readsAlike compares what DecodeMessage and an Outliner, which may have read other records before, make of a line with the oracle.
func readsAlike(t interface {
	Helper()
	Fatalf(string, ...any)
}, o *Outliner, line []byte) {
	t.Helper()
	if got, want := DecodeMessage(line), decodeByLibrary(line); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q\n got %+v\nwant %+v", line, got, want)
	}
	if got, want := o.Message(line), outlineByParts(line); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q\n got %+v\nwant %+v", line, got, want)
	}
}

// anyRecord draws records in all the forms that are known, and what is nearly one of them.
func anyRecord() *rapid.Generator[string] {
	words := []string{`""`, `"a"`, `"b"`, `"c1"`, `"\u0063\u0031"`, `"the words: 12345, \"quoted\"\n\tnew"`, `"\ud83d\ude42é日\ud800x"`, `"\\"`, `"\/\b\f\r"`, `null`, `true`, `false`, `0`, `-1.5e3`, `"null"`, `"True"`, `"user"`, `"assistant"`, `"tool"`}
	types := []string{`"text"`, `"tex\u0074"`, `"input_text"`, `"output_text"`, `"refusal"`, `"tool_use"`, `"tool_result"`, `"image"`, `"document"`, `"thinking"`, `"function"`, `"widget"`}
	keys := []string{`"role"`, `"content"`, `"tool_calls"`, `"function_call"`, `"id"`, `"ts"`, `"name"`, `"tool_call_id"`, `"type"`, `"typ\u0065"`, `"text"`, `"refusal"`, `"source"`, `"data"`,
		`"tool_use_id"`, `"is_error"`, `"function"`, `"custom"`, `"arguments"`, `"input"`, `"x"`, `"i\u0064"`}
	blank := rapid.SampledFrom([]string{"", "", "", "", " ", "\t", "\r", "\n"})
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 9).Draw(t, "kind")
			var b strings.Builder
			switch {
			case depth == 0 || kind < 3:
				return rapid.SampledFrom(words).Draw(t, "word")
			case kind < 6:
				b.WriteByte('[')
				for i := range rapid.IntRange(0, 4).Draw(t, "length") {
					if i > 0 {
						b.WriteByte(',')
					}
					b.WriteString(blank.Draw(t, "blank") + value(depth-1).Draw(t, "element"))
				}
				b.WriteByte(']')
			default:
				b.WriteByte('{')
				for i := range rapid.IntRange(0, 6).Draw(t, "length") {
					if i > 0 {
						b.WriteByte(',')
					}
					key := rapid.SampledFrom(keys).Draw(t, "key")
					v := value(depth - 1)
					if key == `"type"` && rapid.Bool().Draw(t, "known") {
						v = rapid.SampledFrom(types)
					}
					b.WriteString(key + blank.Draw(t, "blank") + ":" + v.Draw(t, "value"))
				}
				b.WriteByte('}')
			}
			return b.String()
		})
	}
	part := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf(`{"type":%s,"id":%s,"name":"f","text":%s,"tool_use_id":%s,"content":%s,"input":%s}`, rapid.SampledFrom(types).Draw(t, "type"),
			value(0).Draw(t, "id"), value(1).Draw(t, "text"), value(0).Draw(t, "answers"), value(2).Draw(t, "content"), value(2).Draw(t, "input"))
	})
	list := func(of *rapid.Generator[string]) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			return "[" + strings.Join(rapid.SliceOfN(of, 0, 4).Draw(t, "list"), ",") + "]"
		})
	}
	return rapid.Custom(func(t *rapid.T) string {
		role := rapid.SampledFrom([]string{`"user"`, `"assistant"`, `"tool"`, `"to\u006fl"`, `"robot"`, `5`}).Draw(t, "role")
		content := rapid.OneOf(value(0), list(part), value(3)).Draw(t, "content")
		calls := rapid.OneOf(list(value(2)), list(part), value(1)).Draw(t, "calls")
		rest := rapid.SampledFrom([]string{`}`, `}`, `}`, ``, `,}`, "}\n", `,"role":"user"}`, `,"content":"last"}`, `,"tool_call_id":"c1"}`, `,"function_call":{"name":"g","arguments":"{}"}}`}).Draw(t, "rest")
		switch rapid.IntRange(0, 3).Draw(t, "form") {
		case 0:
			return fmt.Sprintf(`{"role":%s,"content":%s%s`, role, content, rest)
		case 1:
			return fmt.Sprintf(`{"role":%s,"tool_calls":%s%s`, role, calls, rest)
		case 2:
			return value(3).Draw(t, "anything")
		}
		return fmt.Sprintf(`{"role":%s,"content":%s,"tool_calls":%s%s`, role, content, calls, rest)
	})
}

func TestOutlinesSayWhatDecodedMessagesSay(t *testing.T) {
	var o Outliner
	rapid.Check(t, func(t *rapid.T) { readsAlike(t, &o, []byte(anyRecord().Draw(t, "record"))) })
	for _, line := range []string{"", "\xff\r\n", "{nope", `{"role":"user","content":"` + strings.Repeat("a", MaxRecord) + `"}`, strings.Repeat(`{"a":`, 2000)} {
		readsAlike(t, &o, []byte(line))
	}
}

func TestOutlinesOfRealSessions(t *testing.T) {
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	files, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no real sessions here; set CTXFS_TESTDATA")
	}
	var o Outliner
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			readsAlike(t, &o, bytes.TrimSuffix(line, []byte("\n")))
		}
	}
}

// Every byte that ends the plain part of a string is found wherever it stands.
func TestPlainEndsAtTheFirstSpecialByte(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			for _, after := range []string{"", "a", `"`, "\x00\x1f", strings.Repeat("\xff", 9), strings.Repeat(" !#[]", 4)} {
				b := []byte(strings.Repeat("\x80", at) + string([]byte{byte(c)}) + after)
				want := 0
				for want < len(b) && b[want] >= 0x20 && b[want] != '"' && b[want] != '\\' {
					want++
				}
				if got := plain(b); got != want {
					t.Fatalf("plain(%q) is %d, want %d", b, got, want)
				}
			}
		}
	}
}

func BenchmarkOutline(b *testing.B) {
	line := benchRecord()
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	var o Outliner
	for b.Loop() {
		o.Message(line)
	}
}
