package packtest

import (
	"bytes"
	"encoding/base64"
	pixels "image"
	"image/color"
	"io"
	"testing"
)

// Picture is an image of that size, in base64.
func Picture(t *testing.T, encode func(io.Writer, pixels.Image) error, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, pixels.NewPaletted(pixels.Rect(0, 0, width, height), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}
