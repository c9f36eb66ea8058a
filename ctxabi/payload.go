package ctxabi

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Payload is what an image, a sound or a file carries in a record, out of base64.
type Payload struct {
	Mime  string // "image/png", or what the part says; "" when it does not
	Bytes []byte
}

// Payloads returns the payloads of a message in the order of its parts, those inside of results among them. A part that only
// names a URL, or whose base64 is broken, has none.
func Payloads(line []byte) []Payload {
	_, parts := DecodeParts(line)
	return payloads(nil, parts)
}

func payloads(list []Payload, parts []Part) []Payload {
	for _, p := range parts {
		switch p.Kind {
		case PartResult:
			list = payloads(list, p.Inner)
		case PartData:
			if data, ok := PayloadOf(p.Raw); ok {
				list = append(list, data)
			}
		}
	}
	return list
}

// PayloadOf returns the payload of one part as it stands in a record, in a form of OpenAI, Anthropic or MCP.
func PayloadOf(part []byte) (Payload, bool) {
	var p struct {
		Source               struct{ Media_type, Data string }
		ImageURL             json.RawMessage               `json:"image_url"`
		InputAudio           struct{ Data, Format string } `json:"input_audio"`
		File                 struct{ File_data string }    `json:"file"`
		FileData             string                        `json:"file_data"`
		Data, MimeType, Mime string
		Type, Result         string
		Format               string `json:"output_format"`
	}
	json.Unmarshal(part, &p) // a field of another shape stays empty
	var url string
	if json.Unmarshal(p.ImageURL, &url) != nil {
		var at struct{ URL string }
		json.Unmarshal(p.ImageURL, &at)
		url = at.URL
	}
	if p.Type == "image_generation_call" {
		p.Data, p.Mime, p.MimeType = p.Result, "image/"+cmp.Or(p.Format, "png"), ""
	}
	if strings.HasPrefix(p.Data, "data:") { // a screenshot of the Agents SDK
		url, p.Data = p.Data, ""
	}
	for _, c := range []Payload{
		{p.Source.Media_type, []byte(p.Source.Data)},
		{p.MimeType + p.Mime, []byte(p.Data)},
		{audioMime(p.InputAudio.Format), []byte(p.InputAudio.Data)},
		inlined(url), inlined(p.File.File_data), inlined(p.FileData),
	} {
		if len(c.Bytes) == 0 {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(string(c.Bytes))
		if err != nil || len(b) == 0 {
			return Payload{}, false
		}
		return Payload{c.Mime, b}, true
	}
	return Payload{}, false
}

func audioMime(format string) string {
	if format == "" {
		return ""
	}
	return "audio/" + format
}

// inlined takes a data: URL apart, its data still in base64.
func inlined(url string) Payload {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return Payload{}
	}
	mime, data, _ := strings.Cut(rest, ";base64,")
	return Payload{mime, []byte(data)}
}
