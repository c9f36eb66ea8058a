package adapter

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// AcceptedBy replaces images that the provider refuses, and documents and files of an unsupported
// type, by texts, and corrects the media types of images. It adds each change to lost.
func AcceptedBy(v picture.Provider, said []Speech, lost *Tally) {
	var parts []*ctxabi.Part
	var of []int
	for i := range said {
		add := func(list []ctxabi.Part) {
			for k := range list {
				if list[k].Kind == ctxabi.PartData {
					parts, of = append(parts, &list[k]), append(of, i)
				}
			}
		}
		if said[i].Role == ctxabi.User { // the formats replace those of others
			add(said[i].Parts)
		}
		for k := range said[i].Answers {
			said[i].Answers[k].Inner = slices.Clone(said[i].Answers[k].Inner) // which may be the record's
			add(said[i].Answers[k].Inner)
		}
	}
	AcceptData(v, parts, func(i int) int { return of[i] }, func(i int, what string) { lost.Add(said[of[i]].Where, what) })
}

// AcceptData is [AcceptedBy] for a list of data parts in conversation order. record returns the
// record number of part i; lose receives each loss.
func AcceptData(v picture.Provider, parts []*ctxabi.Part, record func(i int) int, lose func(i int, what string)) {
	var images []picture.Picture
	var at []int // of each image among parts
	for i, p := range parts {
		d, ok := ReadDatum(p.Raw)
		switch {
		case !ok && isImagePart(p.Raw):
			lose(i, "an image is replaced by its type: it has neither data nor an address")
			*p = ctxabi.Part{Kind: ctxabi.PartText, Text: Marker(p.Raw)}
		case !ok: // the format decides
		case !isImagePart(p.Raw):
			if why := refusesFile(v, d); why != "" {
				lose(i, "a file is replaced by its type: "+why)
				*p = ctxabi.Part{Kind: ctxabi.PartText, Text: Marker(p.Raw)}
			}
		case d.Url != "":
			images, at = append(images, picture.Picture{Address: true}), append(at, i)
		default:
			im, data := picture.Inspect(d.Mime, d.Base64)
			if images, at = append(images, im), append(at, i); im.Problem == "" && (im.Mistyped() || data != d.Base64) {
				if im.Mistyped() {
					lose(i, "the media type of an image is corrected to that of its bytes")
				}
				p.Raw = imageOf(im.Type, data)
			}
		}
	}
	for k, why := range v.Choose(images, func(k int) int { return record(at[k]) }) {
		if why == "" {
			continue
		}
		p := parts[at[k]]
		lose(at[k], "an image is replaced by its type: "+why)
		text := Marker(p.Raw)
		if d, _ := ReadDatum(p.Raw); d.Url != "" {
			text = strings.TrimSuffix(text, "]") + " " + d.Url + "]"
		}
		*p = ctxabi.Part{Kind: ctxabi.PartText, Text: text}
	}
}

// imageOf returns an image part in Anthropic's form.
func imageOf(mime, data string) []byte {
	source := Object{{"type", Raw("base64")}, {"media_type", Raw(mime)}, {"data", Raw(data)}}
	return Raw(Object{{"type", Raw("image")}, {"source", Raw(source)}})
}

// isImagePart reports whether the type of a part is image. It does not look at the data.
func isImagePart(raw []byte) bool {
	o, _ := ParseObject(raw)
	return slices.Contains([]string{"image", "image_url", "input_image", "computer_screenshot", "image_generation_call"}, o.Text("type"))
}

// refusesFile returns the reason why the provider refuses a document or a file; "" if no reason is
// known.
func refusesFile(v picture.Provider, d Datum) string {
	if d.Url != "" {
		return ""
	}
	b, err := base64.StdEncoding.DecodeString(d.Base64)
	kind, _, _ := strings.Cut(d.Mime, "/")
	switch {
	case err != nil || len(b) == 0:
		return "its base64 is broken"
	case d.Mime == "application/pdf" && !bytes.Contains(b[:min(len(b), 1024)], []byte("%PDF-")):
		return "its bytes are no PDF"
	case v == picture.Gemini && d.Mime != "application/pdf" && !slices.Contains([]string{"audio", "video", "text"}, kind):
		return "Gemini accepts no " + d.Mime
	}
	return ""
}
