package toolcall

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
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

// The stated lines and bytes are what is missing, also if the end of a script is cut after the body
// of a here-document.
func TestOmissionsCountWhatIsMissing(t *testing.T) {
	body := func(name string, lines int) string {
		return "cat > " + name + " <<'EOF'\n" + strings.Repeat("some words of "+name+"\n", lines) + "EOF\n"
	}
	const path = "context/line/6.txt"
	note := regexp.MustCompile(`\[(\d+) lines?, (\d+) bytes left out, all of it in ` + path + `\]\n?`)
	scripts := map[string]string{
		"one":    body("a.py", 57) + "python3 -m unittest\ngit status\n",
		"two":    body("a.py", 57) + body("b.py", 40) + "python3 -m unittest\n",
		"many":   body("a.py", 9) + body("b.py", 8) + body("c.py", 7) + body("d.py", 6),
		"script": body("a.py", 30) + strings.Repeat("echo a line of the script\n", 60),
	}
	for name, script := range scripts {
		for limit := 40; limit < 400; limit += 9 {
			arguments, _ := json.Marshal(map[string]string{"command": script})
			short, cut := Shortened(string(arguments), limit, path)
			text := gjson.Get(short, "command").String()
			lines, bytes := 0, 0
			for _, m := range note.FindAllStringSubmatch(text, -1) {
				l, _ := strconv.Atoi(m[1])
				b, _ := strconv.Atoi(m[2])
				lines, bytes = lines+l, bytes+b
			}
			shown := strings.ReplaceAll(note.ReplaceAllString(text, ""), "…\n", "")
			missing := strings.Count(script, "\n") - strings.Count(shown, "\n")
			began := strings.Count(text, "…\n")
			if cut && (bytes != len(script)-len(shown) || lines != missing-began) {
				t.Errorf("%s, %d tokens: %d lines, %d bytes are stated, %d and %d are missing: %s",
					name, limit, lines, bytes, missing-began, len(script)-len(shown), text)
			}
		}
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
