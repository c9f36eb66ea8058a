package verdicts

import (
	"slices"
	"strings"
	"testing"
)

// What is looked at first passes over no rule that matches.
func TestNoRuleIsPassedOver(t *testing.T) {
	matched := make([]int, len(rules))
	check := func(line string) {
		if line == "" {
			return
		}
		for i := range rules {
			if !strings.Contains(strings.ToLower(line), rules[i].has) || !rules[i].re().MatchString(line) {
				continue
			}
			matched[i]++
			if !slices.Contains(rulesAt()[line[0]], i) || !rules[i].mayHold(strings.ToLower(line)) {
				t.Errorf("%q matches %s, which is not tried", line, rules[i].re())
			}
		}
	}
	for i := range rules {
		example := rules[i].example
		for k := range len(example) {
			check(example[k:])
			for _, begin := range []string{"✖ ", "× ", "=== ", "12 ", "_", "a.", "[INFO] ", "é", "\xff", "(", "x/"} {
				check(begin + example[k:])
			}
		}
	}
	for i, n := range matched {
		if n == 0 {
			t.Errorf("no line matches %s", rules[i].re())
		}
	}
	if n := len(rulesAt()['a']); n > len(rules)/2 {
		t.Errorf("%d of %d rules are tried for a line that begins with a", n, len(rules))
	}
}
