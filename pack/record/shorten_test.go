package record

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/compress/result"
)

// Of a screen that somebody pastes, the line that says what went wrong stays, wherever it stands.
func TestTheFailureOfAPastedScreenStays(t *testing.T) {
	frames := strings.Repeat("    at Object.render (/srv/app/theme-selector.ts:50:9)\n", 40)
	const told = "Error: Variable reference not found: dimGray"
	for name, text := range map[string]string{
		"in the middle": "I chose a theme and got this.\n" + frames + "throw new Error(`no ${value}`);\n" + told + "\n" + frames + "Please mend it.",
		"at the end":    "I chose a theme and got this.\n" + frames + frames + told,
	} {
		limit := result.Limit{Tokens: 200}
		short := headTail(text, limit, "context/line/1.txt")
		if strings.Count(short, told) != 1 || !strings.HasPrefix(short, "I chose a theme") || !limit.Holds(short) || !strings.Contains(short, " left out, all of it in context/line/1.txt]") {
			t.Errorf("%s:\n%s", name, short)
		}
	}
	plain := "A story.\n" + strings.Repeat("It goes on and on.\n", 200) + "The end."
	limit := result.Limit{Tokens: 100}
	if got, want := headTail(plain, limit, "p"), result.HeadTail(plain, limit, "p"); got != want {
		t.Errorf("without a failure it is\n%s", got)
	}
}

// Both ends of a long message were joined without a mark.
func TestEndsMarkTheGap(t *testing.T) {
	text := Ends(strings.Repeat("a", LongText) + strings.Repeat("b", LongText))
	if want := strings.Repeat("a", LongText/2) + "\n…\n" + strings.Repeat("b", LongText/2); text != want {
		t.Errorf("%d bytes", len(text))
	}
}
