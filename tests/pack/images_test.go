package packtest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Screenshots count towards the budget of the request that carries them, and leave it with the records that leave.
func TestASessionOfScreenshotsExceededItsBudget(t *testing.T) {
	t.Parallel()
	const cost = 1548 // of 1280 × 720, the most that a provider says
	m := harness.Start(t, harness.Options{})
	s := session(t, m)
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewGray(image.Rect(0, 0, 1280, 720))); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(shot.Bytes())
	s.Bash("echo 8000 > context/budget").OK()
	s.Append("messages.jsonl", `{"role":"user","content":"Click through the shop."}`+"\n")
	for i := range 8 {
		s.Append("messages.jsonl", fmt.Sprintf(`{"role":"assistant","content":"Step %d.","tool_calls":[{"id":"c%d","name":"click","arguments":"{}"}]}`+"\n", i, i)+
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":[{"type":"text","text":"page %d"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}]}]}`+"\n", i, i, data))
	}
	b := read(t, s)
	images := strings.Count(valid(t, s, "anthropic"), `"type":"image"`)
	if total := b.Tokens + images*cost; total > 8000 || images == 0 || b.Compactions == 0 {
		t.Errorf("%d images, with them %d tokens, after %d compactions", images, total, b.Compactions)
	}
}
