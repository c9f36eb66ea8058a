package adapter_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/unicode"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestLinesOfEveryEncoding(t *testing.T) {
	const plain = "{\"a\":\"é😀\"}\n\n  \t\n{\"b\":2}\n"
	utf16 := func(order unicode.Endianness, bom unicode.BOMPolicy) string {
		s, err := unicode.UTF16(order, bom).NewEncoder().String(plain)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, data := range map[string]string{
		"UTF-8": plain, "with a mark": "\xef\xbb\xbf" + plain, "CRLF": strings.ReplaceAll(plain, "\n", "\r\n"),
		"UTF-16LE": utf16(unicode.LittleEndian, unicode.UseBOM), "UTF-16BE": utf16(unicode.BigEndian, unicode.UseBOM),
		"UTF-16LE without a mark": utf16(unicode.LittleEndian, unicode.IgnoreBOM), "UTF-16BE without a mark": utf16(unicode.BigEndian, unicode.IgnoreBOM),
	} {
		lines := adapter.NewLines(iotest.OneByteReader(strings.NewReader(data)))
		one, err1 := lines.Next()
		two, err2 := lines.Next()
		_, err3 := lines.Next()
		if err1 != nil || err2 != nil || err3 != io.EOF {
			t.Fatalf("%s: %v %v %v", name, err1, err2, err3)
		}
		if string(one.Bytes) != `{"a":"é😀"}` || one.N != 1 || string(two.Bytes) != `{"b":2}` || two.N != 4 || one.Problem+two.Problem != "" || two.Torn {
			t.Errorf("%s: %+v %+v", name, one, two)
		}
		doc, err := adapter.ReadDocument(strings.NewReader(data))
		if err != nil || doc.Problem != "" || !bytes.HasPrefix(doc.Bytes, one.Bytes) || !bytes.HasSuffix(doc.Bytes, two.Bytes) {
			t.Errorf("%s: document %+v, %v", name, doc, err)
		}
	}
}

func TestLinesThatAreOfNoUse(t *testing.T) {
	large := `{"type":"note","text":"` + strings.Repeat("x", ctxabi.MaxRecord) + `"}`
	fits := `{"t":"` + strings.Repeat("x", ctxabi.MaxRecord-8) + `"}`
	data := "\xff\xfe{}\nzero \x00\n" + large + "\n" + fits + "\r\n{\"torn\":"
	lines := adapter.NewLines(io.MultiReader(strings.NewReader("{}\n"), strings.NewReader(data)))
	for i, want := range []struct{ problem, kept, loss string }{
		{"", "", ""},
		{"is not valid UTF-8", "//57fQ==", "in base64"},
		{"contains a NUL byte", "zero \x00", "kept in an event"},
		{"is too large: 16777242 bytes, the limit is 16777216", "", "size and SHA-256"},
		{"", fits, "kept in an event"},
		{"", "", "is cut off"},
	} {
		line, err := lines.Next()
		if err != nil || line.N != i+1 || line.Problem != want.problem || line.Torn != (i == 5) {
			t.Fatalf("line %d: %d %.60q %q torn %v, %v", i+1, line.N, line.Bytes, line.Problem, line.Torn, err)
		}
		if want.loss == "" {
			continue
		}
		var out collected
		in := &adapter.Input{Seen: func(chain, id string) bool { return id == "seen" }}
		stamp := adapter.Stamp{Format: "f", IDs: []string{"x"}, At: []int{i}}
		if err := line.Keep(in, &out, stamp, "is bad"); err != nil {
			t.Fatal(err)
		}
		if len(out.losses) != 1 || out.losses[0].Where != line.Where() || !strings.Contains(out.losses[0].What, want.loss) {
			t.Errorf("line %d: losses %v", i+1, out.losses)
		}
		if line.Torn {
			if len(out.records) > 0 {
				t.Errorf("a torn line is kept: %s", out.records[0].Line)
			}
			continue
		}
		fit, _ := out.records[0].Fit()
		if err := fit.Check(); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
		if kept, ok := fit.KeptLine(); ok && !bytes.Equal(kept, line.Bytes) {
			t.Errorf("line %d: kept %.60q, was %.60q", i+1, kept, line.Bytes)
		} else if s, stamped := fit.Stamp(); !stamped || !ok && !bytes.Contains(s.Rest, []byte(`"sha256"`)) {
			t.Errorf("line %d: %.100s", i+1, fit.Line)
		}
		stamp.IDs[0] = "seen"
		out = collected{}
		if line.Keep(in, &out, stamp, "is bad"); len(out.losses)+len(out.records) > 0 {
			t.Errorf("line %d: one that the session has is kept again", i+1)
		}
	}
	if _, err := lines.Next(); err != io.EOF {
		t.Error(err)
	}
	if _, err := adapter.NewLines(iotest.ErrReader(io.ErrNoProgress)).Next(); err != io.ErrNoProgress {
		t.Errorf("a failure to read is %v", err)
	}
}

func TestRecordsThatASessionRefusesAreReplaced(t *testing.T) {
	stamp := string(adapter.Raw(adapter.Stamp{Format: "f", IDs: []string{"x"}, At: []int{7}}))
	deep := adapter.Record{Line: []byte(`{"role":"user","content":[` + strings.Repeat("[", 1500) + strings.Repeat("]", 1500) + `],"import":` + stamp + `}`)}
	large := adapter.Record{Chain: "c", Event: true, Line: []byte(`{"type":"f/x","text":"` + strings.Repeat("x", ctxabi.MaxRecord) + `","import":` + stamp + `}`)}
	for _, r := range []adapter.Record{deep, large} {
		fit, lost := r.Fit()
		s, ok := fit.Stamp()
		if fit.Check() != nil || lost == "" || !ok || s.IDs[0] != "x" || s.At[0] != 7 || fit.Chain != r.Chain || !fit.Event {
			t.Errorf("%.200s, lost %q", fit.Line, lost)
		}
	}
	fit, _ := deep.Fit()
	if back := fit.Refit(); string(back.Line) != string(deep.Line) || back.Event {
		t.Errorf("the deep record does not come back: %.200s", back.Line)
	}
	ok := adapter.Record{Line: []byte(`{"role":"user","content":"x"}`)}
	if same, lost := ok.Fit(); lost != "" || string(same.Line) != string(ok.Line) || string(ok.Refit().Line) != string(ok.Line) {
		t.Error("a record that fits is replaced")
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n{"))
	f.Add([]byte("\xff\xfe{\x00}\x00\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &adapter.Input{Seen: func(chain, id string) bool { return false }}
		lines, ids := adapter.NewLines(bytes.NewReader(data)), adapter.Counter{}
		last := 0
		for {
			line, err := lines.Next()
			if err == io.EOF {
				break
			}
			if err != nil || line.N <= last || len(line.Bytes) == 0 {
				t.Fatalf("%+v after line %d: %v", line, last, err)
			}
			last = line.N
			var out collected
			if err := line.Keep(in, &out, adapter.Stamp{Format: "f", IDs: []string{ids.ID(line.Bytes)}, At: []int{0}}, "x"); err != nil {
				t.Fatal(err)
			}
			for _, r := range out.records {
				if kept, ok := r.KeptLine(); r.Check() != nil || !ok || !bytes.Equal(kept, line.Bytes) {
					t.Fatalf("%q is kept as %s", line.Bytes, r.Line)
				}
			}
		}
		if _, err := adapter.ReadDocument(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	})
}

type collected struct {
	records []adapter.Record
	losses  []adapter.Loss
}

func (c *collected) Record(r adapter.Record) error { c.records = append(c.records, r); return nil }
func (c *collected) Loss(l adapter.Loss)           { c.losses = append(c.losses, l) }
