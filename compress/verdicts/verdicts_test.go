package verdicts

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// ran is a script with what came of it.
type ran struct{ script, output, exit string }

// after returns the state after scripts. The result of the n-th, from 1, stands at 2n.
func after(list ...ran) (s State) {
	for i, r := range list {
		args, _ := json.Marshal(map[string]string{"command": r.script})
		id := strconv.Itoa(i)
		s = s.Apply(toolcall.Record{At: 2*i + 1, Calls: []ctxabi.Call{{ID: id, Name: "bash", Arguments: string(args)}}})
		s = s.Apply(toolcall.Record{At: 2*i + 2, Results: []toolcall.Result{{Call: id, Text: r.output, Exit: r.exit}}})
	}
	return s
}

// Each rule is for its example, and no other rule before it takes it.
func TestRules(t *testing.T) {
	for i := range rules {
		r := &rules[i]
		if line := strings.TrimSpace(r.example); !r.re().MatchString(line) || !strings.Contains(strings.ToLower(line), r.has) {
			t.Errorf("%q is not for its example %q", r.re(), r.example)
		}
		rep := Read(r.example)
		if !rep.Good && !rep.Bad && !rep.Counted && rep.Why == "" && len(rep.Names) == 0 {
			t.Errorf("of %q nothing is read", r.example)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		runs []ran
		want string // the lines, joined by " | "
	}{
		// Tests
		{[]ran{{"go test ./pack", "--- FAIL: TestA (0.00s)\n    a_test.go:3: got 1\n--- FAIL: TestB (0.00s)\n    --- FAIL: TestB/one (0.00s)\nFAIL\nFAIL\texample.com/pack\t0.01s\nFAIL\n", "1"}},
			"go test pack: 2 failed (2): TestA, TestB/one; a_test.go:3: got 1"},
		{[]ran{{"cd x && go test ./... 2>&1 | tail -20", "ok  \texample.com/a\t0.01s\nok  \texample.com/b\t(cached)\n", ""}}, "go test ...: ok (2)"},
		{[]ran{{"go test -v ./a", "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n", "0"}}, "go test a: 2 passed (2)"},
		{[]ran{{"go test ./a", "# example.com/a\n./a.go:3:5: undefined: x\nFAIL\texample.com/a [build failed]\nFAIL\n", "1"}},
			"go test a: 1 error (2): example.com/a (build failed); ./a.go:3:5: undefined: x"},
		{[]ran{{"pytest tests -q 2>&1 | tail -5", "FAILED tests/test_a.py::test_x - AssertionError: 1 != 2\nFAILED tests/test_a.py::test_y - KeyError\n2 failed, 9 passed in 0.12s\n", ""}},
			"pytest tests: 9 passed, 2 failed (2): tests/test_a.py::test_x, tests/test_a.py::test_y"},
		{[]ran{{"python -m pytest", "============ 12 passed, 1 skipped in 3.10s ============\n", "0"}}, "pytest: 12 passed, 1 skipped (2)"},
		{[]ran{{"pytest", "E   ModuleNotFoundError: No module named 'x'\nERROR tests/test_a.py\n=== 1 error in 0.10s ===\n", "2"}}, "pytest: 1 error (2): tests/test_a.py; E ModuleNotFoundError: No module named 'x'"},
		{[]ran{{"python -m unittest", "FAIL: test_x (mod.Case)\nERROR: test_y (mod.Case)\nRan 5 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n", "1"}}, "unittest: 3 passed, 1 failed, 1 error (2): test_x (mod.Case), test_y (mod.Case)"},
		{[]ran{{"npx jest", "FAIL src/a.test.ts\n  ● cart › adds\n\n    expect(received).toBe(expected)\n\nTests:       1 failed, 9 passed, 10 total\n", "1"}}, "jest: 9 passed, 1 failed (2): src/a.test.ts, cart › adds"},
		{[]ran{{"npx vitest run", " FAIL  src/a.test.ts > cart > adds\n Tests  1 failed | 3 passed (4)\n", "1"}}, "vitest run: 3 passed, 1 failed (2): cart > adds"},
		{[]ran{{"npx mocha", "  5 passing (10ms)\n  1 failing\n\n  1) cart adds:\n     AssertionError: expected 1 to equal 2\n", "1"}}, "mocha: 5 passed, 1 failed (2): AssertionError: expected 1 to equal 2"},
		{[]ran{{"npm test", "# tests 6\n# pass 5\n# fail 1\nnot ok 3 - parses\n", "1"}}, "npm test: 5 passed, 1 failed (2): parses"},
		{[]ran{{"npm test", "✖ refuses an empty cart (1.2ms)\nℹ pass 5\nℹ fail 1\n", "1"}}, "npm test: 5 passed, 1 failed (2): refuses an empty cart"},
		{[]ran{{"cargo test", "test a::b ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured\n", "101"}}, "cargo test: 3 passed, 1 failed (2): a::b"},
		{[]ran{{"mvn -q test", "[ERROR]   CartTest.adds:12 expected 3\n[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1\n[INFO] BUILD FAILURE\n", "1"}}, "mvn test: 3 passed, 1 failed, 1 skipped (2): CartTest.adds"},
		{[]ran{{"./gradlew test", "CartTest > adds() FAILED\n5 tests completed, 1 failed\nBUILD FAILED in 3s\n", "1"}}, "gradlew test: 4 passed, 1 failed (2): CartTest > adds()"},
		{[]ran{{"ctest", "75% tests passed, 1 tests failed out of 4\n\nThe following tests FAILED:\n\t  3 - cart (Failed)\n", "8"}}, "ctest: 3 passed, 1 failed (2): cart"},
		{[]ran{{"bundle exec rspec", "5 examples, 1 failure\n\nrspec ./spec/a_spec.rb:12 # adds\n", "1"}}, "rspec: 4 passed, 1 failed (2): ./spec/a_spec.rb:12"},
		{[]ran{{"vendor/bin/phpunit", "Tests: 5, Assertions: 9, Failures: 1.\n", "1"}}, "phpunit: 4 passed, 1 failed (2)"},
		{[]ran{{"dotnet test", "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total: 5\n", "1"}}, "dotnet test: 4 passed, 1 failed (2)"},
		{[]ran{{"./run_tests.sh", "2 passed, 9 failed\n", "1"}}, "run_tests.sh: 2 passed, 9 failed (2)"},
		// Builds
		{[]ran{{"cargo build", "   Compiling a v0.1.0\n    Finished dev in 0.5s\n", "0"}}, "cargo build: ok (2)"},
		{[]ran{{"cargo build", "error[E0308]: mismatched types\n --> src/a.rs:3:5\nerror: could not compile `a` (lib) due to 1 previous error\n", "101"}}, "cargo build: 1 error (2): error[E0308]: mismatched types"},
		{[]ran{{"npx tsc --noEmit", "src/a.ts(3,5): error TS2322: Type 'x'\nsrc/b.ts(3,5): error TS2322: Type 'y'\n", "2"}}, "tsc: 2 errors (2): src/a.ts(3,5): error TS2322: Type 'x'"},
		{[]ran{{"make", "gcc -c a.c\na.c:3:5: error: expected ';'\nmake: *** [Makefile:3: all] Error 1\n", "2"}}, "make: 1 error (2): a.c:3:5: error: expected ';'"},
		{[]ran{{"go vet ./... && go build ./...", "", "0"}}, "go vet ... && go build ...: ok (2)"},
		{[]ran{{"npx eslint src", "✖ 3 problems (2 errors, 1 warning)\n", "1"}}, "eslint src: 2 errors (2)"},
		{[]ran{{"mypy src", "src/a.py:3: error: bad\nFound 1 error in 1 file (checked 2 source files)\n", "1"}}, "mypy src: 1 error (2): src/a.py:3: error: bad"},
		// Installations
		{[]ran{{"npm install", "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\n", "1"}}, "npm install: exit 1 (2): ERESOLVE unable to resolve dependency tree"},
		{[]ran{{"pip install x", "ERROR: Could not find a version that satisfies the requirement x\nERROR: No matching distribution found for x\n", "1"}}, "pip install x: exit 1 (2): ERROR: Could not find a version that satisfies the requirement x"},
		{[]ran{{"pip install x", "Successfully installed x-1.0\n", "0"}}, "pip install x: ok (2): Successfully installed x-1.0"},
		{[]ran{{"sudo apt-get install -y x", "E: Unable to locate package x\n", "100"}}, "apt-get install: exit 100 (2): Unable to locate package x"},
		// Programs
		{[]ran{{"python train.py", "epoch 1\nTraceback (most recent call last):\n  File \"train.py\", line 3\nValueError: bad shape\n", "1"}}, "python train.py: exit 1 (2): ValueError: bad shape"},
		{[]ran{{"timeout 60 python train.py", "epoch 1\nloss 0.3\n", "0"}}, "python train.py: ok (2): loss 0.3"},
		{[]ran{{"./a.out", "Segmentation fault (core dumped)\n", "139"}}, "a.out: exit 139 (2): Segmentation fault (core dumped)"},
		{[]ran{{"python long.py", "epoch 1\nCommand timed out after 120 seconds\n", ""}}, "python long.py: stopped before its end (2): Command timed out after 120 seconds"},
		{[]ran{{"git commit -m x", "error: pathspec 'y' did not match\n", "1"}}, "git commit: exit 1 (2): error: pathspec 'y' did not match"},
		// What decides nothing
		{[]ran{{"grep -n x a.go", "", "1"}}, ""},
		{[]ran{{"grep -n error a.log", "a.log:3: error: bad\n", "0"}}, ""},
		{[]ran{{"cat a_test.go", "--- FAIL: TestA (0.00s)\n", "0"}}, ""},
		{[]ran{{"ls && git status && git diff", "FAILED tests/a.py::b\n", "0"}}, ""},
		{[]ran{{"mkdir -p a && cp b a/", "", "0"}}, ""},
		{[]ran{{"rm a", "rm: cannot remove 'a': No such file or directory\n", "1"}}, ""},
		// Again
		{[]ran{{"go test ./a", "--- FAIL: TestA (0.00s)\nFAIL\n", "1"}, {"go test ./a", "ok  \texample.com/a\t0.01s\n", "0"}}, "go test a: ok (4), failed before (2)"},
		{[]ran{{"go test ./a", "ok  \texample.com/a\t0.01s\n", "0"}, {"go test ./a", "--- FAIL: TestA (0.00s)\nFAIL\n", "1"}}, "go test a: 1 failed (4): TestA"},
		{[]ran{{"go test ./a -run TestA", "--- FAIL: TestA (0.00s)\nFAIL\n", "1"}, {"go test ./a", "ok  \texample.com/a\t0.01s\n", "0"}}, "go test a: ok (4) | go test a [TestA]: failed (2), mended by go test a (4)"},
		{[]ran{{"go test ./a -run TestA", "--- FAIL: TestA (0.00s)\nFAIL\n", "1"}, {"go test ./...", "--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n", "1"}}, "go test ...: 2 failed (4): TestA, TestB"},
		{[]ran{{"go test ./a", "--- FAIL: TestA (0.00s)\nFAIL\n", "1"}, {"go test ./b", "ok  \texample.com/b\t0.01s\n", "0"}}, "go test a: 1 failed (2): TestA | go test b: ok (4)"},
		{[]ran{{"npx tsc --noEmit", "src/a.ts(3,5): error TS2322: Type 'x'\n", "2"}, {"npm run check", "", "0"}}, "npm check: ok (4) | tsc: failed (2: src/a.ts(3,5): error TS2322: Type 'x'), mended by npm check (4)"},
		{[]ran{{"python a.py", "KeyError: 'x'\n", "1"}, {"cd src && python a.py", "42\n", "0"}}, "python a.py: ok (4), failed before (2: KeyError: 'x'): 42"},
		{[]ran{{"python3 - <<'EOF'\nx\nEOF", "NameError: x\n", "1"}, {"python3 -c 'print(1)'", "1\n", "0"}, {"python3 -c 'y'", "NameError: y\n", "1"}}, "python3 (inline): exit 1 (6): NameError: y | python3 (inline): exit 1 (2): NameError: x | python3 (inline): ok (4): 1"},
		{[]ran{{"make check 2>&1 | grep -E 'error|FAIL' | head -5", "", ""}}, "make check: no failure seen (2)"},
		{[]ran{{"npx tsc --noEmit", "src/a.ts(3,5): error TS2322: Type 'x'\n", "2"}, {"npm run check 2>&1 | tail -3", "\n", "0"}}, "npm check: no failure seen (4) | tsc: failed (2: src/a.ts(3,5): error TS2322: Type 'x'), no failure seen since by npm check (4)"},
	} {
		got := strings.Join(after(c.runs...).Lines(Options{Chars: 4000}), " | ")
		if got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.runs[len(c.runs)-1].script, got, c.want)
		}
	}
}

// A tool that runs tests has a verdict without a script.
func TestToolThatTests(t *testing.T) {
	var s State
	for i, text := range []string{"2 passed, 1 failed\n", "3 passed, 0 failed\n"} {
		id := strconv.Itoa(i)
		s = s.Apply(toolcall.Record{At: 2*i + 1, Calls: []ctxabi.Call{{ID: id, Name: "run_tests", Arguments: `{"suite":"all"}`}, {ID: id + "x", Name: "book", Arguments: `{"id":"7"}`}}})
		s = s.Apply(toolcall.Record{At: 2*i + 2, Results: []toolcall.Result{{Call: id, Text: text}, {Call: id + "x", Text: "Error: no seat"}}})
		if got, want := strings.Join(s.Lines(Options{Chars: 400}), "|"), []string{"run_tests: 2 passed, 1 failed (2)", "run_tests: 3 passed (4), failed before (2)"}[i]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A state is a value, lines keep their budget, and a state its bound.
func TestBounds(t *testing.T) {
	var list []ran
	for i := range 200 {
		list = append(list, ran{"go test ./p" + strconv.Itoa(i), "--- FAIL: TestA (0.00s)\nFAIL\n", "1"})
	}
	s := after(list...)
	if n := len(s.Verdicts()); n != MaxVerdicts {
		t.Errorf("%d verdicts", n)
	}
	before := s.Lines(Options{Chars: 1 << 20})
	for _, chars := range []int{0, 10, 100, 1000} {
		if got := len(strings.Join(s.Lines(Options{Chars: chars}), "\n")); got > chars {
			t.Errorf("%d bytes where %d are allowed", got, chars)
		}
	}
	args := `{"command":"go test ./..."}`
	next := s.Apply(toolcall.Record{At: 500, Calls: []ctxabi.Call{{ID: "x", Name: "bash", Arguments: args}}})
	next = next.Apply(toolcall.Record{At: 501, Results: []toolcall.Result{{Call: "x", Text: "ok  \ta\t0.1s\n"}}})
	if strings.Join(before, "\n") != strings.Join(s.Lines(Options{Chars: 1 << 20}), "\n") {
		t.Error("an old state has changed")
	}
	if got := next.Lines(Options{Chars: 200})[0]; got != "go test ...: ok (501)" {
		t.Errorf("%s", got)
	}
}

func BenchmarkApply(b *testing.B) {
	s := after(ran{"go test ./a", "ok  \ta\t0.1s\n", "0"})
	args := `{"command":"cd x && go test ./... 2>&1 | tail -40"}`
	text := strings.Repeat("=== RUN   TestA\n    a_test.go:3: some log line with words\n--- PASS: TestA (0.00s)\n", 20)
	for b.Loop() {
		n := s.Apply(toolcall.Record{At: 10, Calls: []ctxabi.Call{{ID: "x", Name: "bash", Arguments: args}}})
		n.Apply(toolcall.Record{At: 11, Results: []toolcall.Result{{Call: "x", Text: text}}})
	}
}
