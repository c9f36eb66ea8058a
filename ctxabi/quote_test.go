package ctxabi

import (
	"strings"
	"testing"
)

func TestQuotedTextEndsNoQuotation(t *testing.T) {
	for _, text := range []string{
		QuoteEnds, "a\n" + QuoteEnds + "\nb\n", strings.ToUpper(QuoteEnds), "[ ctxfs : end of the quotation]", "[\tCtxfs: end", "[[ctxfs: x", QuoteBegins, ToldEnds, "",
	} {
		got := Quoted(text)
		inside, ok := strings.CutPrefix(got, QuoteBegins+"\n")
		inside, ended := strings.CutSuffix(inside, "\n"+QuoteEnds+"\n")
		if !ok || !ended || markInside.MatchString(inside) {
			t.Errorf("%q is quoted as\n%s", text, got)
		}
	}
	if got, want := Quoted("a [note] of ctxfs: 1\n"), QuoteBegins+"\na [note] of ctxfs: 1\n"+QuoteEnds+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
