package pack

import (
	"bytes"
	"encoding/base64"
	"fmt"
	pixels "image"
	"image/png"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// screenshot is a part with a PNG of a size.
func screenshot(width, height int) string {
	var b bytes.Buffer
	if err := png.Encode(&b, pixels.NewGray(pixels.Rect(0, 0, width, height))); err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}`, base64.StdEncoding.EncodeToString(b.Bytes()))
}

// A session of screenshots stays within its budget in every rendering: images count, leave the prompt with the oldest records, and
// none changes within an epoch.
func TestImagesDidNotCountTowardsTheBudget(t *testing.T) {
	l := logOf(string(message("user", "Click through the shop.")))
	shot := screenshot(1280, 720)
	cost := record.TokensOfImage([]byte(shot))
	if cost != 1548 {
		t.Fatalf("a screenshot costs %d", cost)
	}
	for i := range 24 {
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","content":"Step %d.","tool_calls":[{"id":"c%d","name":"click","arguments":"{\"at\":%d}"}]}`, i, i, i)))
		l.Append([]byte(fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":[{"type":"text","text":"page %d"},%s]}]}`, i, i, shot)))
	}
	for _, budget := range suite.Pick(t, []int{2000, 8000, 64000}, []int{2000, 4000, 8000, 16000, 64000}) {
		var c Compiler
		var before *Build
		most, compactions := 0, 0
		for n := 1; n <= l.Len(); n++ {
			b, err := c.Compile(inputOf(l.Prefix(n), budget))
			if err != nil {
				t.Fatal(err)
			}
			data := natives(t, b, logsOf(&Input{Messages: l.Prefix(n)}), budget, "")[native.Anthropic].data
			images := strings.Count(string(data), `"type":"image"`)
			if total := b.Tokens + images*cost; total > budget {
				t.Fatalf("at %d, %d records: %d images, with them %d tokens", budget, n, images, total)
			}
			if before != nil && before.Epoch == b.Epoch && images < most {
				t.Errorf("at %d, %d records: %d images were shown, now %d in the same epoch", budget, n, most, images)
			}
			most, compactions, before = images, b.Compactions, b
		}
		if budget >= 8000 && most == 0 || budget < 64000 && budget > 4000 && compactions == 0 || budget == 64000 && most != 24 {
			t.Errorf("at %d: %d images at the end, %d compactions", budget, most, compactions)
		}
	}
}

// Images of one message that cost more than there is: the newest are not shown either, and there is a pack all the same.
func TestMoreImagesThanTheBudgetHasRoomFor(t *testing.T) {
	parts := strings.Repeat(screenshot(1280, 720)+",", 9) + screenshot(1280, 720)
	l := logOf(`{"role":"user","content":[{"type":"text","text":"Compare these."},`+parts+`]}`, `{"role":"user","content":[{"type":"text","text":"And this."},`+screenshot(300, 300)+`]}`)
	in := inputOf(l, 4000)
	b := mustCompile(t, in)
	for f, r := range natives(t, b, logsOf(&in), 4000, "") {
		if n := strings.Count(string(r.data), `"data"`) + strings.Count(string(r.data), "data:image/png"); n != 1 {
			t.Errorf("%s shows %d images", f, n)
		}
		if !strings.Contains(string(r.data), "[Image at Turn 1: Compare these.") {
			t.Errorf("%s does not say where the others are", f)
		}
	}
}

// The definitions of tools count, too: what they take the conversation does not have.
func TestToolsDidNotCountTowardsTheBudget(t *testing.T) {
	var tools []string
	for i := range 60 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":"%s","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`, i, weighing(60)))
	}
	at := -1
	for k, s := range recipe.Default().Sources {
		if s.Type == recipe.TypeTools {
			at = k
		}
	}
	file := blocks.File{At: at, ID: "tools", Path: ctxabi.ToolsFile, Data: []byte("[" + strings.Join(tools, ",") + "]")}
	l := longLog(300)
	in := inputOf(l, 16000, file)
	b := mustCompile(t, in)
	n := b.native
	if tokens := n.Tools.Tokens(n.Counter); tokens < 4000 || n.Bound > 16000 {
		t.Errorf("tools take %d tokens, all at most %d", tokens, n.Bound)
	}
	talk, err := n.Dialogue(in.Messages, in.Events)
	if err != nil {
		t.Fatal(err)
	}
	if count := n.Count(talk); count > 16000 || count < 12000 {
		t.Errorf("the renderings take %d tokens", count)
	}
	if b.Compactions == 0 || len(b.Markdown) == 0 {
		t.Error("no compaction")
	}
}
