package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parseByLibrary is ParseObject by way of encoding/json, the oracle.
func parseByLibrary(raw []byte) (Object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var o Object
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		o = append(o, Field{t.(string), v})
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	return o, nil
}

// marshalByLibrary is Object.MarshalJSON likewise.
func marshalByLibrary(o Object) []byte {
	var b bytes.Buffer
	for i, f := range o {
		b.WriteByte("{,"[min(i, 1)])
		b.Write(encoded(f.Key))
		b.WriteByte(':')
		if json.Compact(&b, f.Value) != nil {
			return nil
		}
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	return append(b.Bytes(), '}')
}

func sameAsLibrary(t *testing.T, raw []byte) {
	t.Helper()
	got, err := ParseObject(raw)
	want, wrong := parseByLibrary(raw)
	if (err == nil) != (wrong == nil) || len(got) != len(want) || (got == nil) != (want == nil) {
		t.Fatalf("%.200q\ngot  %.200q %v\nwant %.200q %v", raw, got, err, want, wrong)
	}
	for i := range got {
		if lossy(got[i].Key) != want[i].Key || !bytes.Equal(got[i].Value, want[i].Value) {
			t.Errorf("%.200q\ngot  %q %.200q\nwant %q %.200q", raw, got[i].Key, got[i].Value, want[i].Key, want[i].Value)
		}
		var text string
		json.Unmarshal(want[i].Value, &text)
		if o := got[i : i+1]; o.Text(o[0].Key) != text {
			t.Errorf("the text of %.200q is %.200q", o[0].Value, o.Text(o[0].Key))
		}
		var list []json.RawMessage
		json.Unmarshal(want[i].Value, &list)
		array := got[i : i+1].Array(got[i].Key)
		if len(array) != len(list) || (array == nil) != (list == nil) {
			t.Fatalf("the list of %.200q is %.200q", want[i].Value, array)
		}
		for j := range list {
			if !bytes.Equal(array[j], list[j]) {
				t.Errorf("element %d of %.200q is %.200q", j, want[i].Value, array[j])
			}
		}
	}
	if err == nil {
		out, err := got.MarshalJSON()
		written, wrong := parseByLibrary(out)
		if err != nil || wrong != nil || !bytes.Equal(marshalByLibrary(written), marshalByLibrary(want)) || !strings.Contains(string(raw), `\u`) && !bytes.Equal(out, marshalByLibrary(want)) {
			t.Errorf("%.200q\nis written %.200q %v\nnot        %.200q", raw, out, err, marshalByLibrary(want))
		}
	}
}

// lossy is a key as encoding/json has it, which knows no half of a surrogate pair.
func lossy(key string) string {
	var b []byte
	for len(key) > 0 {
		if len(key) >= 3 && key[0] == 0xed && key[1] >= 0xa0 {
			b, key = append(b, "\uFFFD"...), key[3:]
			continue
		}
		b, key = append(b, key[0]), key[1:]
	}
	return string(b)
}

var objects = []string{
	`{}`, ` { } `, `{"a":1}`, "\t{\"a\" :\r\n[1 , {\"b\":\"c\"} ] , \"a\":null }\n", `{"":""}`, `{"\u0061\ud800":"\u00e9\ud83d\ude00\ud83d"}`,
	"{\"\xff\":\"\xc3\"}", "{\"a\x7f\":\"é\u2028\"}", `{"a":-0.10e+5,"b":1E9,"c":true,"d":false}`,
	``, ` `, `null`, `[]`, `"a"`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a":1]`, `{"a" 1}`, `{a:1}`, `{1:1}`, `{"a":1 "b":2}`,
	`{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":.5}`, `{"a":+1}`, `{"a":1e}`, `{"a":tru}`, `{"a":nullx}`, `{"a":[1,]}`, `{"a":[,]}`, `{"a":[}`, "{\"a\":\"\n\"}", `{"a":"\x"}`, `{"a":"\u12g4"}`,
	`{}{}`, `{} x`, `{},`, `{}]`, "\xef\xbb\xbf{}", "{}\x00", "{\"a\":1\x00}", "{\v}", `{"a":[[]],"b":{"c":{"d":[]}}}`, `{"a":"` + strings.Repeat(`x\n`, 50) + `"}`,
}

func TestObjectsAreWhatEncodingJSONTakes(t *testing.T) {
	for _, raw := range objects {
		sameAsLibrary(t, []byte(raw))
	}
	for _, depth := range []int{9_999, 10_000, 10_001, 10_002} {
		sameAsLibrary(t, []byte(`{"a":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`))
		sameAsLibrary(t, []byte(strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth)))
	}
}

// What is appended to a value must not run into the next.
func TestValuesOfAnObjectCanBeAppendedTo(t *testing.T) {
	raw := []byte(`{"a":[1],"b":2}`)
	o, err := ParseObject(raw)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(o.Get("a"), "xxxx"...)
	_ = append(o.Array("a")[0], "xxxx"...)
	if string(raw) != `{"a":[1],"b":2}` {
		t.Errorf("%s", raw)
	}
}

func FuzzParseObject(f *testing.F) {
	for _, raw := range objects {
		f.Add([]byte(raw))
	}
	samples, _ := filepath.Glob("formats/testdata/*/*.jsonl")
	for _, name := range samples {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		line, _, _ := bytes.Cut(data, []byte("\n"))
		f.Add(line)
	}
	f.Fuzz(sameAsLibrary)
}

// The stamp is read as encoding/json reads it.
func TestStampsAreWhatEncodingJSONReads(t *testing.T) {
	for _, stamp := range []string{
		`{"format":"x","ids":["a"],"at":[1],"file":2,"rest":{"a": [1]}}`, `{"format":"x","ids":["a"],"at":[1],"rest":null}`, `{"FORMAT":"x","Ids":["a"],"Rest":1}`,
		`{"format":"x","ids":["é\u0000"],"at":null,"rest":"","new":{}}`, `{"format":"x","ids":[]}`, `{"format":"","ids":["a"]}`, `{"format":"x","ids":["a"],"at":["b"]}`,
		`{"format":1,"ids":["a"]}`, `{}`, `[]`, `null`, `"x"`,
	} {
		line := `{"role":"user","content":"x","import":` + stamp + `}`
		got, ok := Record{Line: []byte(line)}.Stamp()
		var want struct{ Import Stamp }
		err := json.Unmarshal([]byte(line), &want)
		if ok != (err == nil && want.Import.Format != "" && len(want.Import.IDs) > 0) {
			t.Errorf("%s: %v %v", line, ok, err)
		}
		if ok && (!bytes.Equal(encoded(got), encoded(want.Import)) || !bytes.Equal(Raw(got), encoded(want.Import))) {
			t.Errorf("%s\ngot  %s, written %s\nwant %s", line, encoded(got), Raw(got), encoded(want.Import))
		}
	}
	r := Record{Line: []byte(`{"type":"a","import":{"format":"x","ids":["a"]}}`)}.stamped()
	r.Line = []byte(strings.Replace(string(r.Line), `"x"`, `"y"`, 1))
	if s, _ := r.Stamp(); s.Format != "y" {
		t.Errorf("a record with another line has the stamp of the first: %q", s.Format)
	}
}
