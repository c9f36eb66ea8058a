package record

import (
	pixels "image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/packtest"
)

// A mark shows what the image shows, as the text beside it has it, and its format and size; native renderings have the same mark.
func TestImageMarks(t *testing.T) {
	asGIF := func(w io.Writer, m pixels.Image) error { return gif.Encode(w, m, nil) }
	asJPEG := func(w io.Writer, m pixels.Image) error { return jpeg.Encode(w, m, nil) }
	for _, c := range []struct{ part, beside, want string }{
		{`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + packtest.Picture(t, png.Encode, 1280, 720) + `"}}`, "# The login page [after] the fix\nMore.",
			"[Image at Turn 3: The login page [after) the fix · png 1280×720 · context/line/9]"},
		{`{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + packtest.Picture(t, asJPEG, 64, 48) + `"}}`, "", "[Image at Turn 3: jpeg 64×48 · context/line/9]"},
		{`{"type":"image","data":"` + packtest.Picture(t, asGIF, 7, 5) + `","mimeType":"image/gif"}`, strings.Repeat("long ", 40), "[Image at Turn 3: long long long long long long long long long… · gif 7×5 · context/line/9]"},
		{`{"type":"image","source":{"media_type":"image/webp","data":"AAAA"}}`, "", "[Image at Turn 3: context/line/9]"},
		{`{"type":"image","source":{"media_type":"image/png","data":"iVBORw0KGgo="}}`, "", "[Image at Turn 3: png · context/line/9]"},
		{`{"type":"input_image","image_url":"https://example.org/a.png"}`, "A", "[Image at Turn 3: A · context/line/9]"},
		{`{"type":"input_audio","input_audio":{"data":"xx"}}`, "\n ", "[Audio at Turn 3: context/line/9]"},
	} {
		if got := imageMark([]byte(c.part), c.beside, 3, Address{Line: 9}); got != c.want {
			t.Errorf("%.60s…: got\n%s, want\n%s", c.part, got, c.want)
		}
	}
}
