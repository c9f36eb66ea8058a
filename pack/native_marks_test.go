package pack

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/native"
)

// The bound of a pack counts marks and the text between them apart. A mark inside takes no more than before.
func TestMarksCostWhatIsCounted(t *testing.T) {
	for _, encoding := range []string{"o200k_base", "cl100k_base"} {
		c, err := counterFor(encoding)
		if err != nil {
			t.Fatal(err)
		}
		m := ctxabi.MarksOf("coder", "s1")
		marks := c.Count(m.Begin(ctxabi.QuotedData)) + c.Count(m.End()) + native.MessageTokens
		if marks > native.QuoteTokens {
			t.Errorf("%s: a quotation takes %d tokens, not %d", encoding, marks, native.QuoteTokens)
		}
		for _, before := range []string{"", " ", "a", "a ", "[", "[[", "](", "1", "\n", "\n\n", "é", "#", "“", "\t", "_", "x=", "\\n", "...", "'", "\"", "//"} {
			for _, mark := range []string{"[ctxfs:", "[CTXFS:", "[Ctxfs:", "[ctxfs :", "[ ctxfs:", "[cTxFs\t:", "[ctxfs 0a1b2c:", "[ctxfs ABCDEF :"} {
				for _, behind := range []string{"", " end of the quotation]", "[ctxfs:", ":", "\n", "a"} {
					text := "# x\n" + before + strings.Repeat(mark, 3) + behind + "\n"
					was := c.Count(text)
					if now := c.Count(m.Quote(ctxabi.QuotedData, text)) + native.MessageTokens; now > was+native.QuoteTokens {
						t.Errorf("%s: %q takes %d tokens, and %d quoted", encoding, text, was, now)
					}
				}
			}
		}
	}
}
