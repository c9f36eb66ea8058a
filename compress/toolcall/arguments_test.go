package toolcall

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestLongArgumentsKeepTheirShape(t *testing.T) {
	var code strings.Builder
	for i := range 200 {
		fmt.Fprintf(&code, "def fn_%d(x):\n    return x * %d\n", i, i)
	}
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for name, c := range map[string]struct{ arguments, path, want string }{
		"heredoc": {`{"command":` + quote("mkdir -p src\ncat > src/fns.py <<'EOF'\n"+code.String()+"EOF\npython3 -m pytest -q") + `}`, "command", "mkdir -p src\ncat > src/fns.py <<'EOF'\ndef fn_0(x):\n    return x * 0\ndef fn_1(x):\n[397 lines, 6537 bytes left out, all of it in context/line/6.txt]\nEOF\npython3 -m pytest -q"},
		"content": {`{"file_path":"src/fns.py","content":` + quote(code.String()) + `,"overwrite":true}`, "file_path", "src/fns.py"},
		"edits":   {`{"path":"a.py","edits":[{"old":` + quote(code.String()) + `,"new":"pass"}],"n":3}`, "edits.0.new", "pass"},
		"text":    {"*** Begin Patch\n" + code.String(), "", ""},
	} {
		short, cut := Shortened(c.arguments, 200, "context/line/6.txt")
		if !cut || len(short) > 900 || !strings.Contains(short, "left out, all of it in context/line/6.txt]") {
			t.Errorf("%s: %s", name, short)
		}
		if c.path != "" && (!gjson.Valid(short) || gjson.Get(short, c.path).String() != c.want) {
			t.Errorf("%s: %q of %s", name, gjson.Get(short, c.path).String(), short)
		}
	}
	if short, cut := Shortened(`{"command":"ls"}`, 200, "p"); cut || short != `{"command":"ls"}` {
		t.Errorf("%s", short)
	}
}

// Valid JSON stays valid, with the same fields.
func FuzzShortened(f *testing.F) {
	f.Add(`{"a":"` + strings.Repeat("x y\\n", 300) + `","b":[1,{"c":null}]}`)
	f.Add(`{"command":"cat <<EOF\n` + strings.Repeat("line\\n", 99) + `EOF\n"}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		short, cut := Shortened(arguments, 50, "p")
		if !cut && short != arguments {
			t.Errorf("%q became %q", arguments, short)
		}
		if v := gjson.Parse(arguments); gjson.Valid(arguments) && v.IsObject() {
			if !gjson.Valid(short) || len(gjson.Parse(short).Map()) != len(v.Map()) {
				t.Errorf("%q became %q", arguments, short)
			}
		}
	})
}
