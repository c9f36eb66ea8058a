package pack

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// image is an image in one form, whichever it was written in.
type image struct {
	mime string // "image/png"; of data
	data string // base64
	url  string // else this
	mark string // what stands in its place in a text
}

// imageTypes are what all providers take.
var imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// readImage reads a part that is an image in a form of OpenAI, Anthropic or MCP. ok is false
// for other data, and for what providers would refuse.
func readImage(part []byte) (im image, ok bool) {
	var p struct {
		Type     string
		Source   struct{ Type, Media_type, Data, URL string }
		ImageURL json.RawMessage `json:"image_url"`
		Data     string
		MimeType string
	}
	if json.Unmarshal(part, &p) != nil {
		return im, false
	}
	switch p.Type {
	case "image":
		if im = (image{mime: p.Source.Media_type, data: p.Source.Data}); p.Source.URL != "" {
			im = image{url: p.Source.URL}
		} else if im.data == "" {
			im = image{mime: p.MimeType, data: p.Data}
		}
	case "image_url", "input_image":
		var at struct{ URL string }
		if json.Unmarshal(p.ImageURL, &at.URL) != nil && json.Unmarshal(p.ImageURL, &at) != nil {
			return im, false
		}
		im.url = at.URL
	}
	if inline, is := strings.CutPrefix(im.url, "data:"); is {
		kind, data, _ := strings.Cut(inline, ";base64,")
		im = image{mime: kind, data: data}
	}
	if im.url != "" {
		return im, strings.HasPrefix(im.url, "https://") || strings.HasPrefix(im.url, "http://")
	}
	bytes, err := base64.StdEncoding.Strict().DecodeString(im.data)
	return im, err == nil && len(bytes) > 0 && !strings.ContainsAny(im.data, "\r\n") && slices.Contains(imageTypes, im.mime)
}

// dataURL is the image as a URL.
func (im image) dataURL() string {
	if im.url != "" {
		return im.url
	}
	return "data:" + im.mime + ";base64," + im.data
}
