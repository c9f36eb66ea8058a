package record

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// Image is an image in one form, whichever it was written in.
type Image struct {
	MIME string // "image/png"; of data
	Data string // base64
	URL  string // else this
	Mark string // what stands in its place in a text
}

// imageTypes are what all providers take.
var imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// ReadImage reads a part that is an image in a form of OpenAI, Anthropic or MCP. ok is false
// for other data, and for what providers would refuse.
func ReadImage(part []byte) (im Image, ok bool) {
	var p struct {
		Type     string
		Source   struct{ Type, Media_type, Data, URL string }
		ImageURL json.RawMessage `json:"image_url"`
		Data     string
		MimeType string
		Result   string
		Format   string `json:"output_format"`
	}
	if json.Unmarshal(part, &p) != nil {
		return im, false
	}
	switch p.Type {
	case "image":
		if im = (Image{MIME: p.Source.Media_type, Data: p.Source.Data}); p.Source.URL != "" {
			im = Image{URL: p.Source.URL}
		} else if im.Data == "" {
			im = Image{MIME: p.MimeType, Data: p.Data}
		}
	case "image_generation_call":
		im = Image{MIME: "image/" + cmp.Or(p.Format, "png"), Data: p.Result}
	case "image_url", "input_image", "computer_screenshot":
		if p.ImageURL == nil && p.Type == "computer_screenshot" { // as the Agents SDK has it
			p.ImageURL, _ = json.Marshal(p.Data)
		}
		var at struct{ URL string }
		if json.Unmarshal(p.ImageURL, &at.URL) != nil && json.Unmarshal(p.ImageURL, &at) != nil {
			return im, false
		}
		im.URL = at.URL
	}
	if inline, is := strings.CutPrefix(im.URL, "data:"); is {
		kind, data, _ := strings.Cut(inline, ";base64,")
		im = Image{MIME: kind, Data: data}
	}
	if im.URL != "" {
		return im, strings.HasPrefix(im.URL, "https://") || strings.HasPrefix(im.URL, "http://")
	}
	bytes, err := base64.StdEncoding.Strict().DecodeString(im.Data)
	return im, err == nil && len(bytes) > 0 && !strings.ContainsAny(im.Data, "\r\n") && slices.Contains(imageTypes, im.MIME)
}

// DataURL is the image as a URL.
func (im Image) DataURL() string {
	if im.URL != "" {
		return im.URL
	}
	return "data:" + im.MIME + ";base64," + im.Data
}
