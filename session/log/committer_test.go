package log

import (
	"fmt"
	"strings"
	"testing"
)

func TestWritingBeginsEarlyForWhoSyncsEachCommit(t *testing.T) {
	for _, c := range []struct{ does, early string }{ // c: a commit, s: a sync; whether writing begins at each commit
		{"ccccc", "-----"},
		{"csccc", "-++-"},
		{"cscscs", "-++"},
		{"ccsccscc", "--++++"},
		{"cccsccc", "------"},
		{"cssc", "-+"},
		{"csccccsccc", "-++-----"},
	} {
		var p pace
		var early strings.Builder
		for _, do := range c.does {
			if do == 's' {
				p.synced()
			} else {
				fmt.Fprint(&early, map[bool]string{true: "+", false: "-"}[p.committed()])
			}
		}
		if early.String() != c.early {
			t.Errorf("%s: %s, want %s", c.does, early.String(), c.early)
		}
	}
}
