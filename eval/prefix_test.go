package eval

import "testing"

func TestAMinorCompactionKeepsWhatTheMajorOneLeft(t *testing.T) {
	before := &sent{text: "# head\nmajor block\nlog 1\n", epoch: "e1", stable: 25, major: "m1", past: 19}
	for name, c := range map[string]struct {
		now  sent
		want string
	}{
		"the log goes on":          {sent{text: "# head\nmajor block\nlog 1\nlog 2\n", epoch: "e1", major: "m1"}, ""},
		"the log was changed":      {sent{text: "# head\nmajor block\nlog X\nlog 2\n", epoch: "e1", major: "m1"}, "the prefix broke within epoch e1"},
		"a minor one adds a block": {sent{text: "# head\nmajor block\nminor\nlog 2\n", epoch: "e2", major: "m1"}, ""},
		"a minor one rewrites":     {sent{text: "# head\nmajor blocks\nlog 2\n", epoch: "e2", major: "m1"}, "epoch e2 broke what the major compaction m1 left"},
		"a minor one is short":     {sent{text: "# head\n", epoch: "e3", major: "m1"}, "epoch e3 broke what the major compaction m1 left"},
		"a major one may rewrite":  {sent{text: "# head\nother\n", epoch: "e2", major: "m2"}, ""},
		"an epoch of other causes": {sent{text: "# other\n", epoch: "e2"}, ""},
	} {
		if got := c.now.breaks(before); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := before.breaks(nil); got != "" {
		t.Errorf("the first pack: %q", got)
	}
}
