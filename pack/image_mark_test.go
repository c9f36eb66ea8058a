package pack

import (
	"bytes"
	"encoding/base64"
	"fmt"
	pixels "image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/record"
)

// picture is an image of that size, in base64.
func picture(t *testing.T, encode func(io.Writer, pixels.Image) error, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, pixels.NewPaletted(pixels.Rect(0, 0, width, height), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// A mark says what the image shows, as the text beside it has it, and its format and size; native renderings have the same mark.
func TestImageMarks(t *testing.T) {
	asGIF := func(w io.Writer, m pixels.Image) error { return gif.Encode(w, m, nil) }
	asJPEG := func(w io.Writer, m pixels.Image) error { return jpeg.Encode(w, m, nil) }
	for _, c := range []struct{ part, beside, want string }{
		{`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture(t, png.Encode, 1280, 720) + `"}}`, "# The login page [after] the fix\nMore.",
			"[Image at Turn 3: The login page [after) the fix · png 1280×720 · context/line/9]"},
		{`{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + picture(t, asJPEG, 64, 48) + `"}}`, "", "[Image at Turn 3: jpeg 64×48 · context/line/9]"},
		{`{"type":"image","data":"` + picture(t, asGIF, 7, 5) + `","mimeType":"image/gif"}`, strings.Repeat("long ", 40), "[Image at Turn 3: long long long long long long long long long… · gif 7×5 · context/line/9]"},
		{`{"type":"image","source":{"media_type":"image/webp","data":"AAAA"}}`, "", "[Image at Turn 3: webp · context/line/9]"},
		{`{"type":"image","source":{"media_type":"image/png","data":"iVBORw0KGgo="}}`, "", "[Image at Turn 3: png · context/line/9]"},
		{`{"type":"input_image","image_url":"https://example.org/a.png"}`, "A", "[Image at Turn 3: A · context/line/9]"},
		{`{"type":"input_audio","input_audio":{"data":"xx"}}`, "\n ", "[Image at Turn 3: context/line/9]"},
	} {
		if got := record.ImageMark([]byte(c.part), c.beside, 3, record.Address{Line: 9}); got != c.want {
			t.Errorf("%.60s…: got\n%s, want\n%s", c.part, got, c.want)
		}
	}
	// The bytes themselves never stand in pack.md, and where native renderings do not carry them any more they have the mark.
	data := picture(t, png.Encode, 320, 200)
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
