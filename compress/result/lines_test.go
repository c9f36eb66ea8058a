package result

import "testing"

// The example of each rule is of it, and of none before it.
func TestLinesAreOfTheirRule(t *testing.T) {
	for i := range lineRules {
		r := &lineRules[i]
		if got := ruleOf("  " + r.example + "\r"); got != r {
			t.Errorf("%q is of %+v", r.example, got)
		}
	}
	for _, line := range []string{"", "x", "ok  \tshop/cart\t0.012s", "reading 12 files"} {
		if got := ruleOf(line); got != nil {
			t.Errorf("%q is of the rule of %q", line, got.example)
		}
	}
}
