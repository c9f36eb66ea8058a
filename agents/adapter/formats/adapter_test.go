package formats

import (
	"encoding/json"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

func TestObjectKeepsBytesAndOrder(t *testing.T) {
	const raw = `{"z":1.50,"a":"\ud83d <&> \/","b":{"x":10000000000000000000001},"a2":[1, 2],"n":null}`
	o, err := adapter.ParseObject([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(o.With("b", o.Object("b").With("y", "<é>")).Without("n"))
	if err != nil {
		t.Fatal(err)
	}
	line, _ := o.With("b", o.Object("b").With("y", "<é>")).Without("n").MarshalJSON()
	const want = `{"z":1.50,"a":"\ud83d <&> \/","b":{"x":10000000000000000000001,"y":"<é>"},"a2":[1,2]}`
	if string(line) != want {
		t.Errorf("got  %s\nwant %s (json.Marshal: %s)", line, want, got)
	}
	if !o.Has("n") || o.Has("m") || o.Text("b") != "" || len(o.Array("a2")) != 2 {
		t.Error("Get, Text and Array do not agree with the object")
	}
	for _, bad := range []string{"", "[]", "{", `{"a":1} x`, `{"a":}`, "null"} {
		if _, err := adapter.ParseObject([]byte(bad)); err == nil {
			t.Errorf("%q is an object", bad)
		}
	}
}

func TestRecordsStandWhereTheyCameFrom(t *testing.T) {
	stamped := func(chain string, at int) adapter.Record {
		return adapter.Record{Chain: chain, Line: lineOf(adapter.Object{{adapter.StampKey, adapter.Raw(adapter.Stamp{Format: "f", IDs: []string{"x"}, At: []int{at}})}})}
	}
	own := adapter.Record{Line: []byte(`{"role":"user","content":"typed here"}`)}
	got := adapter.InOrder([]adapter.Record{stamped("", 0), own, stamped("", 3)}, []adapter.Record{stamped("sub", 1), stamped("sub", 2)})
	var chains string
	for _, r := range got {
		chains += r.Chain + "|"
	}
	if chains != "||sub|sub||" || string(got[1].Line) != string(own.Line) {
		t.Errorf("order: %q, second %s", chains, got[1].Line)
	}
}

func lineOf(o adapter.Object) []byte { b, _ := o.MarshalJSON(); return b }
