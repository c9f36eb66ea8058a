package cli

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/cli"
)

func TestLossesAreTold(t *testing.T) {
	l := losses{}
	for i, where := range slices.Repeat([]string{"line"}, 8) {
		l.all.Add("f", adapter.Loss{Where: where + " " + string(rune('a'+i)), What: "is bad"})
	}
	l.all.Add("f", adapter.Loss{Where: "the document", What: "is worse"})
	l.all.OneFile()
	var b bytes.Buffer
	if err := l.tell(&b); err != nil {
		t.Error(err)
	}
	const want = "9 losses:\n  line a, line b, line c, line d, line e and 3 more: is bad\n  the document: is worse\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
	l.strict = true
	if err := l.tell(io.Discard); cli.ExitCode(err) != cli.ExitFailed {
		t.Errorf("strict: %v", err)
	}
}
