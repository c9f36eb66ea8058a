package runs

import "testing"

// Each rule accepts its example before any other rule does, and not its counterexample.
func TestRules(t *testing.T) {
	for i := range rules {
		r := &rules[i]
		if got := signOf(r.example, !r.anywhere); got != r.sign {
			t.Errorf("%q: sign %d, want %d of %s", r.example, got, r.sign, r.line())
		}
		if r.line().MatchString(r.counter) {
			t.Errorf("%q matches %s", r.counter, r.line())
		}
		if !r.anywhere && signOf(r.example, false) == r.sign {
			t.Errorf("%q counts everywhere", r.example)
		}
	}
	if !statusRule.line().MatchString(statusRule.example) || statusRule.line().MatchString(statusRule.counter) {
		t.Error("the rule of HTTP statuses")
	}
}

func TestCounts(t *testing.T) {
	for line, want := range map[string]counts{
		"==== 2 failed, 3 passed in 0.12s ====":                                      {passed: 3, failed: 2},
		"Tests:       2 failed, 9 passed, 11 total":                                  {passed: 9, failed: 2},
		"test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out": {passed: 3},
		"5 passing (10ms)":                       {passed: 5},
		"12 passed":                              {passed: 12},
		"Ran 5 tests in 0.001s":                  {total: 5},
		"FAILED (failures=1, errors=2)":          {failed: 3},
		"OK (5 tests, 9 assertions)":             {total: 5},
		"5 examples, 1 failure":                  {total: 5, failed: 1},
		"Tests Passed: 3, Failed: 2, Skipped: 0": {passed: 3, failed: 2},
		"# pass 5":                               {passed: 5},
		"✖ 3 problems (2 errors, 1 warning)":     {failed: 2},
		"Found 2 errors in 1 file":               {failed: 2},
		"0 errors, 3 warnings":                   {},
	} {
		if got, ok := countsIn(line); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"2 passed the exam", "Deployed 3 services", "collected 0 items", "3.5 errors per hour remain", ""} {
		if got, ok := countsIn(line); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}
