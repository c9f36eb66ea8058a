package eval

import "testing"

func TestBrokenPrefixes(t *testing.T) {
	major := &sent{text: "# head\nmajor block\nlog 1\n", epoch: "e1", stable: 25, compactions: 3, major: 3, majorStable: 19}
	for name, c := range map[string]struct {
		now  sent
		want string
	}{
		"the log goes on":          {sent{text: "# head\nmajor block\nlog 1\nlog 2\n", epoch: "e1", compactions: 3, major: 3}, ""},
		"the log was changed":      {sent{text: "# head\nmajor block\nlog X\nlog 2\n", epoch: "e1", compactions: 3, major: 3}, "the prefix broke within epoch e1"},
		"a minor one adds a block": {sent{text: "# head\nmajor block\nminor\nlog 2\n", epoch: "e2", compactions: 4, major: 3}, ""},
		"a minor one rewrites": {sent{text: "# head\nmajor blocks\nlog 2\n", epoch: "e2", compactions: 4, major: 3},
			"minor compaction 4 broke the prefix that major compaction 3 left"},
		"a minor one is short":     {sent{text: "# head\n", epoch: "e2", compactions: 5, major: 3}, "minor compaction 5 broke the prefix that major compaction 3 left"},
		"a major one may rewrite":  {sent{text: "# head\nother\n", epoch: "e2", compactions: 4, major: 4}, ""},
		"an epoch of other causes": {sent{text: "# other\n", epoch: "e2", compactions: 3, major: 3}, ""},
	} {
		if got := c.now.breaks(major); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := major.breaks(nil); got != "" {
		t.Errorf("the first pack: %q", got)
	}
}
