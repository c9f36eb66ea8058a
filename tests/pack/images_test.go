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
	s := m.NewSession(t)
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

// A request with a screenshot and the large results that it takes: from one record to the next the pack keeps its epoch and its
// prefix, or there is one compaction more.
func TestScreenshotsOfRequestsMadeCompactionsComeAndGo(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewGray(image.Rect(0, 0, 600, 400))); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(shot.Bytes())
	s.Bash("echo 8000 > context/budget").OK()
	before := read(t, s)
	records := 0
	add := func(record string) {
		s.Append("messages.jsonl", record+"\n")
		records++
		b := read(t, s)
		switch {
		case b.Compactions < before.Compactions:
			t.Fatalf("%d records: %d compactions after %d: %s", records, b.Compactions, before.Compactions, b.EpochReason)
		case b.Compactions > before.Compactions || records == 1:
		case !bytes.Equal(b.Epoch, before.Epoch):
			t.Fatalf("%d records: the epoch changed without a compaction: %s", records, b.EpochReason)
		case !strings.HasPrefix(b.md, before.md[:before.PrefixBytes]):
			t.Fatalf("%d records: the prefix changed within an epoch", records)
		}
		before = b
	}
	sizes := []int{3, 30, 400}
	for turn := range 6 {
		add(fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"Look at page %d and repair it."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}]}`, turn, data))
		for k := range 4 {
			var text strings.Builder
			for i := range sizes[(turn*turn+2*k)%3] {
				fmt.Fprintf(&text, `%d %x\n`, i, uint32((4*turn+k)*4096+i)*2654435761)
			}
			add(fmt.Sprintf(`{"role":"assistant","content":"Step %d.","tool_calls":[{"id":"c%d_%d","name":"run","arguments":"{}"}]}`, k, turn, k))
			add(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d_%d","content":"%s"}`, turn, k, text.String()))
		}
	}
	if before.Compactions < 2 {
		t.Errorf("%d compactions", before.Compactions)
	}
}

// One picture that no provider accepts made every later request of the session fail.
func TestBadPictureBlockedTheSession(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	html := base64.StdEncoding.EncodeToString([]byte("<!DOCTYPE html><html>404 Not Found</html>"))
	s.Append("messages.jsonl", fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"What is on it?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}]}`+"\n", html)+
		`{"role":"assistant","content":"I cannot see it."}`+"\n"+`{"role":"user","content":"Then describe it."}`+"\n")
	for _, f := range []string{"anthropic", "openai", "responses", "gemini", "genai"} {
		if body := valid(t, s, f); strings.Contains(body, html) || !strings.Contains(body, "[Image at Turn 1: What is on it?") {
			t.Errorf("%s: %s", f, body)
		}
	}
	if p := s.Read("context/pack.json"); !strings.Contains(p, "a line replaces data: its bytes are no PNG") {
		t.Errorf("%s", p)
	}
}
