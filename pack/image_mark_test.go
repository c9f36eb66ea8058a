package pack

import (
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/packtest"
)

// The bytes of an image never stand in pack.md, and where native renderings do not carry them any more they have the mark.
func TestMarksStandForImages(t *testing.T) {
	data := packtest.Picture(t, png.Encode, 320, 200)
	l := logOf(fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"The broken menu."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}]}`, data),
		fmt.Sprintf(`{"role":"tool","tool_call_id":"none","content":[{"type":"text","text":"a screenshot"},{"type":"image","data":%q,"mimeType":"image/png"}]}`, data))
	md := string(mustCompile(t, inputOf(l, 0)).Markdown)
	for _, want := range []string{"[Image at Turn 1: The broken menu. · png 320×200 · context/line/1]\n", "[Image at Turn 1: a screenshot · png 320×200 · context/line/2]\n"} {
		if !strings.Contains(md, want) || strings.Contains(md, data[:40]) {
			t.Errorf("the pack lacks %s:\n%s", want, md)
		}
	}
	for range 60 {
		l.Append(message("user", weighing(90)))
		l.Append(message("assistant", weighing(90)))
	}
	in := inputOf(l, 3000)
	for f, n := range natives(t, mustCompile(t, in), logsOf(&in), in.Budget, "") {
		if text := string(n.data); strings.Contains(text, data[:40]) || !strings.Contains(text, "The broken menu. · png 320×200 · context/line/1]") {
			t.Errorf("%s:\n%s", f, clip(text))
		}
	}
}
