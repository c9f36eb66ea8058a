package runs

import "testing"

// Lines of runners count everywhere, error messages only at the end, and similar lines not at all.
func TestLines(t *testing.T) {
	for line, want := range map[string]verdict{
		"ok  \tx/a\t0.01s [no tests to run]": unsure, "no test failed": silent,
		"Ran 0 tests in 0.000s": unsure, "collected 0 items": unsure, "collected 10 items": silent,
		"... [output truncated: 48,211 more characters] ...": unsure, "truncated 12 rows": silent,

		"ok  \texample.com/a\t0.01s": passes, "ok then": silent,
		"Successfully installed a-1.0": passes, "Successfully contacted nobody": silent,
		"Finished dev in 0.5s": passes, "Finished reading": silent,
		"[main 45ffe0a] Add retries": passes, "[main thread] Add": silent,
		"* [new tag] v1 -> v1": passes, "a -> b": silent,

		"--- FAIL: TestA (0.00s)": fails, "--- PASS: TestA (0.00s)": silent,
		"FAIL\texample.com/a [build failed]": fails, "FAIL-over works": silent,
		"FAILED tests/a.py::test_x - KeyError": fails, "tests/a.py::test_x PASSED": silent,
		"FAIL: test_x (mod.Case)": fails, "test a ... ok": silent,
		"● cart › adds": fails, "✓ adds": silent,
		"./a.go:3:5: undefined: x": fails, "a.md:3:5 is a citation": silent,
		"src/a.ts(3,5): error TS2322: Type": fails, "0 errors here": silent,
		"a_test.go:41: Total() = 6, want 7": fails, "a_test.go:41": silent,
		"panic: runtime error: index out of range": fails, "do not panic: wait": silent,
		"FAILED (failures=1)": fails, "FAILED state is handled": silent,

		"CONFLICT (content): Merge conflict in a.go": errs, "no conflict": silent,
		"curl: (22) The requested URL returned error: 503": errs, "curl: installed": silent,
		"bash: deploy-tool: command not found": errs, "found nothing": silent,
		"npm error code ERESOLVE": errs, "npm notice": silent,
		"error: failed to push some refs": errs, "Error: 0.05": silent,
		"ValueError: bad shape": errs, "Errors: none": silent,
		"fatal: not a git repository": errs, "non-fatal: ok": silent,
		"E: Unable to locate package x": errs, "E: 5": silent,
		"bash: ./x: Permission denied": errs, "denied claims are listed": silent,
		"base64: invalid input": errs, "it has timed outputs": silent,
		"make: *** [Makefile:3: all] Error 2": errs, "make: Nothing to be done": silent,
		"Traceback (most recent call last):": errs, "a traceback": silent,
		"FAILED": errs, "FAILED 0": silent,
	} {
		if got := sayingOf(line, true); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
		if got := sayingOf(line, false); got == errs {
			t.Errorf("%q counts everywhere", line)
		}
	}
}

func TestSummaries(t *testing.T) {
	for line, want := range map[string]verdict{
		"==== 2 failed, 3 passed in 0.12s ====":                                      fails,
		"Tests:       2 failed, 9 passed, 11 total":                                  fails,
		"test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out": passes,
		"5 passing (10ms)":                       passes,
		"12 passed":                              passes,
		"FAILED (failures=1, errors=2)":          fails,
		"OK (5 tests, 9 assertions)":             passes,
		"5 examples, 1 failure":                  fails,
		"5 examples, 0 failures":                 passes,
		"Tests run: 14, Failures: 0, Errors: 0":  passes,
		"Tests Passed: 3, Failed: 2, Skipped: 0": fails,
		"# pass 5":                               passes,
		"# fail 5":                               fails,
		"Failed: 0, Passed: 3":                   passes,
		"✖ 3 problems (2 errors, 1 warning)":     fails,
		"Found 2 errors in 1 file":               fails,
		"10 failed":                              fails,
		"0 failed, 10 passed":                    passes,
	} {
		if got, _ := summaryOf(line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
	for _, line := range []string{"2 passed the exam", "Deployed 3 services", "collected 0 items", "3.5 errors per hour remain",
		"0 errors, 3 warnings", "Ran 5 tests in 0.001s", ""} {
		if got, _ := summaryOf(line); got != silent {
			t.Errorf("%q: %d", line, got)
		}
	}
}
