package notes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func sh(script string) Action {
	args, _ := json.Marshal(map[string]string{"command": script})
	return ActionOf("bash", string(args))
}

func TestCommandsOfAScript(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"go test ./x", "go test ./x!"},
		{"cd /w && git commit -m 'a b'", "cd /w!; git commit -m a b!"},
		{`sudo timeout -k 5 10s env A=b /usr/bin/make check`, "make check!"},
		{`bash -lc "npm test | tail -5; echo done"`, "npm test; tail -5; echo done!"},
		{"false || true; x &", "false~; true~; x~"},
		{"if grep -q a b; then make; fi", "grep -q a b~; make!~"},
		{"cat > t.sh <<'EOF'\nrm -rf /\nEOF\nsh t.sh", "cat; sh t.sh!"},
		{"f() { rm x; }; echo $HOME \"a$b\"", "echo  !"},
		{"npx tsc --noEmit && uv run pytest && python3 -m pytest", "tsc --noEmit!; pytest!; pytest!"},
		{"( a; b ) | c", "a; b; c!"},
		{"a 'unclosed\nb", ""},
		{"", ""},
	} {
		var got []string
		for _, k := range Commands(c.script) {
			text := strings.Join(k.Words, " ")
			if k.Decides {
				text += "!"
			}
			if k.Spared {
				text += "~"
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%q: %q, want %q", c.script, strings.Join(got, "; "), c.want)
		}
	}
}

func TestASuccessMendsWhatItIncludes(t *testing.T) {
	for _, c := range []struct {
		failed, then string
		want         bool
	}{
		{"git commit -m A", "git add . && git commit -m B", true},
		{"cd /w && git commit -m A", "git commit --amend", true},
		{"git commit -m A", "git commit -m A || true", false},
		{"git commit -m A", "git status", false},
		{"go test ./x", "go test ./...", true},
		{"go test ./x", "go test ./x -run TestOne", false},
		{"go test ./x -run TestOne", "go test ./x", true},
		{"go test ./x", "go test ./y", false},
		{"go test ./x/...", "go test ./x", false},
		{"go test -v ./config ./auth", "make check", true},
		{"go vet ./...", "make check", true},
		{"go build ./...", "go test ./... 2>&1 | tail -5", true},
		{"go test ./...", "go build ./...", false},
		{"make check", "make check && git add -A && git commit -m x", true},
		{"make check", "make lint", false},
		{"make lint", "make check", true},
		{"make deploy", "make check", false},
		{"make", "make test", false},
		{"npx tsc --noEmit", "npm run check", true},
		{"npm test", "npm run check", false},
		{"npx jest src/a.test.ts", "npm test", true},
		{"pytest tests/test_a.py::test_x", "pytest tests", true},
		{"pytest tests/test_a.py", "pytest", true},
		{"pytest", "pytest tests/test_a.py", false},
		{"python a.py", "python b.py", false},
		{"python a.py", "cd src && python a.py", true},
		{"node test.js", "node -e 1", false},
		{"docker build .", "docker ps", false},
		{"pip install x", "pip install x y", true},
		{"pip install x", "make check", false},
	} {
		if got := sh(c.then).Mends(sh(c.failed)); got != c.want {
			t.Errorf("%q after %q: %v", c.then, c.failed, got)
		}
	}
	for i, c := range []struct {
		tool, failed, then string
		other              string
		want               bool
	}{
		{"book", `{"user_id":"u","payment":{"gift":1}}`, `{"user_id":"u","payment":{"card":1}}`, "", true},
		{"book", `{"user_id":"u"}`, `{"user_id":"w"}`, "", false},
		{"book", `{"reservation_id":"R","payment_id":"gift_1"}`, `{"reservation_id":"R","payment_id":"card_2"}`, "", true},
		{"edit_file", `{"path":"a.go","old":"x"}`, `{"path":"a.go","old":"y"}`, "", true},
		{"edit_file", `{"path":"a.go"}`, `{"path":"b.go"}`, "", false},
		{"edit_file", `{"path":"a.go"}`, `{"path":"a.go"}`, "write_file", true},
		{"edit_file", `{"path":"a.go"}`, `{"path":"a.go"}`, "read_file", false},
		{"str_replace_editor", `{"command":"str_replace","path":"a.go"}`, `{"command":"view","path":"a.go"}`, "", false},
		{"run_tests", `{}`, `{}`, "", true},
		{"deploy", `{"to":"prod"}`, `{"to":"staging"}`, "", false},
		{"shell", `{"command":["bash","-lc","go vet ./..."]}`, `{"command":["make","check"]}`, "", true},
	} {
		then := c.tool
		if c.other != "" {
			then = c.other
		}
		if got := ActionOf(then, c.then).Mends(ActionOf(c.tool, c.failed)); got != c.want {
			t.Errorf("%d: %s %s after %s %s: %v", i, then, c.then, c.tool, c.failed, got)
		}
	}
}

func TestWhatAsksHasNotFailedByAnswering(t *testing.T) {
	for script, want := range map[string]bool{
		"grep -rn x src": true, "cd /w && rg x": true, "go test ./... | grep FAIL": true, "git diff --quiet": true, "test -f x": true,
		"go test ./x": false, "grep x y; make": false, "grep x y && make": false, "": false,
	} {
		if got := sh(script).Asks(); got != want {
			t.Errorf("%q asks: %v", script, got)
		}
	}
}

// An action makes up for itself unless it narrows nothing down to a part, whatever the script; and
// nothing takes long or fails.
func FuzzActions(f *testing.F) {
	for _, s := range []string{"git add . && git commit -m x", "((((((", "a <<E\n$(b `c`)\nE", "for i in a b; do make $i; done", `bash -c "bash -c 'bash -c \"bash -c x\"'"`, "x=[;{}", "case a in b) c;; esac"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		a, b := fmt.Sprint(Commands(script)), fmt.Sprint(Commands(script))
		if a != b {
			t.Fatalf("%q and then %q", a, b)
		}
		for _, d := range []Action{sh(script), ActionOf(script, script), ActionOf("bash", script)} {
			if len(d.acts) > 0 && !d.acts[len(d.acts)-1].spared && !d.Mends(d) {
				t.Fatalf("%+v does not mend itself", d)
			}
			if len(d.acts) > maxCommands {
				t.Fatalf("%d acts", len(d.acts))
			}
		}
	})
}
