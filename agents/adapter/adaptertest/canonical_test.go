package adaptertest

import (
	"strings"
	"testing"
)

func TestCanonicalEqual(t *testing.T) {
	for _, c := range []struct{ a, b, diff string }{
		{`{"a":1,"b":[true,null]}`, "\xef\xbb\xbf {\"b\" : [ true , null ],\n\"a\":1}\r\n", ""},
		{`{"a":1.50}`, `{"a":1.5}`, `value 1.a`},
		{`{"a":10000000000000000000001}`, `{"a":10000000000000000000002}`, "value 1.a"},
		{`["\u00e9\/\ud83d\ude00\n"]`, `["é/😀\u000a"]`, ""},
		{`["\ud83d"]`, `["\ufffd"]`, "value 1[0]"},
		{`["\ud83d"]`, `["\uD83D"]`, ""},
		{`["\ud83d\u0041"]`, `["\ud83dA"]`, ""},
		{`{"a\n":1}`, `{"a\u000a":1}`, ""},
		{`{"a":1,"a":2}`, `{"a":2}`, ""},
		{`{"a":null}`, `{}`, "value 1.a: only the first"},
		{`{}`, `{"a":null}`, "value 1.a: only the second"},
		{`[1,2]`, `[1]`, "2 and 1 elements"},
		{`{"a":"1"}`, `{"a":1}`, "value 1.a"},
		{`{"a":[]}`, `{"a":{}}`, "value 1.a"},
		{`{"a":[]}`, `{"a":null}`, "value 1.a"},
		{`{"a":null}`, `{"a":[]}`, "value 1.a"},
		{"{}\n{}\n", "{}\n", "value 2: only the first"},
		{"{}\nnope\r\n\n", "{}\nnope", ""},
		{"{}\nnope", "{}\nnopes", "value 2"},
		{"\"nope\"\nnope", "nope\nnope", "value 1"},
		{"", " \n", ""},
	} {
		diff := CanonicalEqual([]byte(c.a), []byte(c.b))
		if (diff == "") != (c.diff == "") || !strings.Contains(diff, c.diff) {
			t.Errorf("%s\n%s\ngot  %q\nwant %q", c.a, c.b, diff, c.diff)
		}
	}
}
