package adapter

import "testing"

// Strings keep the same characters, down to half a surrogate pair: in keys, too.
func TestKeysKeepHalvesOfSurrogatePairs(t *testing.T) {
	for _, in := range []string{
		`{"\ud83d":1,"\ud83e":2,"\udc00x":3}`,
		`{"a\ud800\ud83d\ude00\n\\ud801\"é\udfff":{"\ud800":"\ud800"}}`,
		`{"\ufffd":1,"\u0000":2,"":3,"\\":4,"\ud800\u0041":5}`,
	} {
		o, err := ParseObject([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		out, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseObject(out)
		if err != nil || len(again) != len(o) {
			t.Fatalf("%s became %s: %v", in, out, err)
		}
		for i := range o {
			if o[i].Key != again[i].Key || string(o[i].Value) != string(again[i].Value) {
				t.Errorf("%s became %s", in, out)
			}
			for _, other := range o[:i] {
				if other.Key == o[i].Key {
					t.Errorf("two keys of %s are one", in)
				}
			}
		}
	}
	const exact = `{"a\ud800b\udfff":1}`
	o, _ := ParseObject([]byte(exact))
	if out, _ := o.MarshalJSON(); string(out) != exact {
		t.Errorf("%s became %s", exact, out)
	}
}
