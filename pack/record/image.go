package record

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/picture"
)

// Image is an image in one form, whichever it was written in.
type Image struct {
	picture.Picture
	Data string // base64
	URL  string // else this
	Mark string // the line that replaces it in a text
}

// ReadImage reads a part that is an image in a form of OpenAI, Anthropic or MCP. Problem is set for other data, and for images
// that no provider accepts.
func ReadImage(part []byte) Image {
	d, ok := readDatum(part)
	switch im := (Image{URL: d.url}); {
	case !ok || !d.isImage():
		im.Problem = "only images are sent"
		return im
	case strings.HasPrefix(d.url, "https://") || strings.HasPrefix(d.url, "http://"):
		im.Address = true
		return im
	case d.url != "" || d.data == "" && d.mime == "":
		im.Problem = "it has neither data nor an address"
		return im
	default:
		im.Picture, im.Data = picture.Inspect(d.mime, d.data)
		return im
	}
}

// datum is an image, a sound, or a file as a record has it.
type datum struct {
	kind      string // the type of the part
	mime      string // as the record names it
	data, url string // base64, or an address
}

func readDatum(part []byte) (d datum, ok bool) {
	var p struct {
		Type     string
		Source   struct{ Media_type, Data, URL string }
		ImageURL json.RawMessage `json:"image_url"`
		File     struct{ File_data string }
		FileData string `json:"file_data"`
		Data     string
		MimeType string
		Result   string
		Format   string `json:"output_format"`
	}
	if json.Unmarshal(part, &p) != nil {
		return d, false
	}
	d.kind = p.Type
	switch p.Type {
	case "image", "document":
		if d.mime, d.data, d.url = p.Source.Media_type, p.Source.Data, p.Source.URL; d.url != "" {
			d.mime, d.data = "", ""
		} else if d.data == "" {
			d.mime, d.data = cmp.Or(d.mime, p.MimeType), p.Data
		}
	case "image_generation_call":
		d.mime, d.data = "image/"+cmp.Or(p.Format, "png"), p.Result
	case "file", "input_file":
		d.url = cmp.Or(p.File.File_data, p.FileData)
	case "image_url", "input_image", "computer_screenshot":
		if p.ImageURL == nil && p.Type == "computer_screenshot" { // as the Agents SDK has it
			p.ImageURL, _ = json.Marshal(p.Data)
		}
		var at struct{ URL string }
		if json.Unmarshal(p.ImageURL, &at.URL) != nil && json.Unmarshal(p.ImageURL, &at) != nil {
			return d, false
		}
		d.url = at.URL
	}
	if inline, is := strings.CutPrefix(d.url, "data:"); is {
		d.mime, d.data, _ = strings.Cut(inline, ";base64,")
		d.url = ""
	}
	return d, true
}

func (d *datum) isImage() bool {
	return slices.Contains([]string{"image", "image_generation_call", "image_url", "input_image", "computer_screenshot"}, d.kind)
}

// noun names what the part is.
func (d *datum) noun() string {
	switch {
	case d.mime == "application/pdf" || d.kind == "document":
		return "Document"
	case d.kind == "file" || d.kind == "input_file":
		return "File"
	case d.kind == "input_audio" || d.kind == "audio":
		return "Audio"
	case d.kind == "video":
		return "Video"
	}
	return "Image"
}

// DataURL is the image as a URL.
func (im Image) DataURL() string {
	if im.URL != "" {
		return im.URL
	}
	return "data:" + im.Type + ";base64," + im.Data
}
