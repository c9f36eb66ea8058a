package picture

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	vp8x := "RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x3f\x01\x00\xc7\x00\x00"
	vp8l := "RIFF\x16\x00\x00\x00WEBPVP8L\x0a\x00\x00\x00\x2f\x3f\xc1\x31\x00\x00\x00\x00\x00\x00"
	vp8 := "RIFF\x16\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x40\x01\xc8\x00"
	frame := ",\x00\x00\x00\x00\x01\x00\x01\x00\x80\x00\x00\x00\xff\xff\xff\x02\x02D\x01\x00"
	for name, c := range map[string]struct {
		data string
		want Picture
	}{
		"png":         {"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00\x3a\x7e\x9b\x55", Picture{Type: PNG, Width: 1, Height: 1}},
		"vp8x":        {vp8x, Picture{Type: WebP, Width: 320, Height: 200}},
		"vp8l":        {vp8l, Picture{Type: WebP, Width: 320, Height: 200}},
		"vp8":         {vp8, Picture{Type: WebP, Width: 320, Height: 200}},
		"gif":         {"GIF89a\x01\x00\x01\x00\x00\x00\x00!\xf9\x04\x00\x00\x00\x00\x00" + frame + ";", Picture{Type: GIF, Width: 1, Height: 1}},
		"two frames":  {"GIF89a\x01\x00\x01\x00\x00\x00\x00" + frame + "!\xf9\x04\x00\x00\x00\x00\x00" + frame + ";", Picture{Type: GIF, Width: 1, Height: 1, Animated: true}},
		"cut frame":   {"GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00", Picture{Type: GIF, Width: 1, Height: 1}},
		"heic":        {"\x00\x00\x00\x18ftypheic", Picture{Type: HEIC}},
		"heif":        {"\x00\x00\x00\x18ftypmif1", Picture{Type: HEIF}},
		"short ftyp":  {"\x00\x00\x00\x18ftyp", Picture{Problem: "its bytes are no PNG, JPEG, WebP, GIF, or HEIC"}},
		"cut webp":    {vp8x[:29], Picture{Type: WebP, Problem: "its header is damaged"}},
		"html":        {"<html>", Picture{Problem: "its bytes are no PNG, JPEG, WebP, GIF, or HEIC"}},
		"empty":       {"", Picture{Problem: "it is empty"}},
		"no pixels":   {"GIF89a\x00\x00\x01\x00\x00\x00\x00;", Picture{Type: GIF, Height: 1, Problem: "its header is damaged"}},
		"only magic":  {"\x89PNG\r\n\x1a\n", Picture{Type: PNG, Problem: "its header is damaged"}},
		"broken jpeg": {"\xff\xd8\xff\xe0\x00\x10JFIF", Picture{Type: JPEG, Problem: "its header is damaged"}},
	} {
		text := base64.StdEncoding.EncodeToString([]byte(c.data))
		c.want.Base64, c.want.Claimed = len(text), "x"
		got, data := Inspect("x", strings.ReplaceAll(text, "A", "A\r\n"))
		if got != c.want || data != text {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if p, _ := Inspect(PNG, "AAA"); p.Problem != "its base64 is broken" {
		t.Errorf("%+v", p)
	}
}

// An image that a limit takes out stays out as further records come.
func TestChooseNeverTakesBack(t *testing.T) {
	images := make([]Picture, 700)
	for i := range images {
		images[i] = Picture{Type: PNG, Claimed: PNG, Base64: i % 7 * 300_000, Width: 100 + i%13*200, Height: 5}
	}
	for v := range Providers {
		var before []string
		for n := 1; n <= len(images); n++ {
			now := v.Choose(images[:n], func(i int) int { return i / 3 })
			carried := 0
			for i, why := range now {
				if why == "" {
					carried++
				}
				if i < len(before)-3 && before[i] != "" && why == "" { // of an earlier record
					t.Fatalf("%s, %d images: image %d came back", v, n, i)
				}
			}
			if carried > limits[v].images {
				t.Fatalf("%s carries %d of %d images", v, carried, n)
			}
			before = now
		}
	}
}
