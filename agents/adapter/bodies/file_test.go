package bodies

import "testing"

// Where a list of messages ends too early it is cut off, and waits for its end; what will never be one is kept as it stands.
func TestAListThatIsNotWhole(t *testing.T) {
	for doc, want := range map[string]struct {
		taken int
		rest  string // kept; "": it is cut off
	}{
		`[1`:                 {1, ""},
		`[1,`:                {1, ""},
		"[1,\n 2 \n":         {2, ""},
		`[1,{"role":"us`:     {1, ""},
		`[`:                  {0, ""},
		`[1 2]`:              {1, "2]"},
		`[1["a`:              {1, `["a`},
		`[1}`:                {1, "}"},
		`[,1]`:               {0, "1]"},
		`[1,x]`:              {1, "x]"},
		`[1] and more`:       {1, "and more"},
		`[{"a":1},{"a":tru]`: {1, `{"a":tru]`},
	} {
		list, lost := arrayElements([]byte(doc))
		rest := ""
		if n := len(list); n > 0 && list[n-1].Raw == nil {
			rest, list = string(list[n-1].Line.Bytes), list[:n-1]
		}
		if len(list) != want.taken || rest != want.rest || (lost != nil) != (want.rest == "") {
			t.Errorf("%s: %d are taken, %q is kept, lost: %v", doc, len(list), rest, lost)
		}
	}
}
