package toolcall

import (
	"fmt"
	"strings"
	"testing"
)

func TestSteps(t *testing.T) {
	for script, want := range map[string]string{
		"cd a && npm test -- --ci":   "[cd a] [a: npm test -- --ci]",
		"make a; make b || true\nls": "[make a] [make b] [true] [ls]",
		"python3 - <<'EOF'\nimport x; y\nmake\nEOF\npython3 -m unittest t | tail -3": "[python3 - <<'EOF' import x; y …] [python3 -m unittest t | tail -3]",
		"cat > a.py <<EOF && python a.py\nprint(1)\nEOF":                             "[cat > a.py <<EOF print(1)] [python a.py]",
		"for f in a b; do\n  go test ./$f\ndone":                                     "[for f in a b; do go test ./$f; done]",
		"if [ -f x ]; then make; fi && git push":                                     "[if [ -f x ]; then make; fi] [git push]",
		"(cd x && make); make":                                                       "[cd x] [x: make] [make]",
		"FOO=1 bash -lc 'cd x; make a'":                                              "[cd x] [x: make a]",
		`echo "a; b" 'c && d' # e; f`:                                                `[echo "a; b" 'c && d']`,
		"run & run2 > z 2>&1 &":                                                      "[run] [run2 > z 2>&1]",
		`Get-Content C:\a\b.txt`:                                                     `[Get-Content C:\a\b.txt]`,
		"cd $X; make; cd /w/../v; make":                                              "[cd $X] [?: make] [?: cd /w/../v] [/v: make]",
		"git commit -m 'unterminated; x":                                             "[git commit -m 'unterminated; x]",
	} {
		var out []string
		for _, s := range Steps(script) {
			text := s.Text
			if s.Dir != "" {
				text = s.Dir + ": " + text
			}
			out = append(out, "["+text+"]")
		}
		if got := strings.Join(out, " "); got != want {
			t.Errorf("%q:\n got %s\nwant %s", script, got, want)
		}
	}
}

func TestWordsOfSteps(t *testing.T) {
	for script, want := range map[string]string{
		"X=1 /usr/bin/env go test ./a | grep 'b c'": `[["go" "test" "./a"] ["grep" "b c"]]`,
		"for f in a; do make $f; ls; done":          `[["make" "$f"] ["ls"]]`,
		"sudo timeout 60 python -m pytest -k x":     `[["python" "-m" "pytest" "-k" "x"]]`,
	} {
		if got := fmt.Sprintf("%q", Steps(script)[0].Commands); got != want {
			t.Errorf("%q: %s, want %s", script, got, want)
		}
	}
}

func FuzzSteps(f *testing.F) {
	f.Add("a <<E && b\nx\nE\n(c; d) | e")
	f.Add("for x in '; do `if { ( <<")
	f.Fuzz(func(t *testing.T, script string) {
		for _, s := range Steps(script) {
			if len(s.Commands) == 0 || s.Text == "" {
				t.Errorf("%q has an empty step", script)
			}
		}
	})
}
