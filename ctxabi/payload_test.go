package ctxabi

import "testing"

func TestPayloadsOfTheFormsThatProvidersUse(t *testing.T) {
	for _, c := range []struct{ part, mime string }{
		{`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"YWJj"}}`, "image/png"},
		{`{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,YWJj"}}`, "image/jpeg"},
		{`{"type":"input_image","image_url":"data:image/webp;base64,YWJj"}`, "image/webp"},
		{`{"type":"image","data":"YWJj","mimeType":"image/gif"}`, "image/gif"},
		{`{"type":"input_audio","input_audio":{"data":"YWJj","format":"wav"}}`, "audio/wav"},
		{`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,YWJj"}}`, "application/pdf"},
		{`{"type":"input_file","file_data":"data:application/pdf;base64,YWJj"}`, "application/pdf"},
		{`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"YWJj"}}`, "application/pdf"},
	} {
		for _, record := range []string{
			`{"role":"user","content":[{"type":"text","text":"look"},` + c.part + `]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + c.part + `]}]}`,
		} {
			got := Payloads([]byte(record))
			if len(got) != 1 || string(got[0].Bytes) != "abc" || got[0].Mime != c.mime {
				t.Errorf("%s: %q", record, got)
			}
		}
	}
	for _, none := range []string{
		`{"role":"user","content":"text"}`, `not json`,
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]}`,
		`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%%"}}]}`,
		`{"role":"user","content":[{"type":"image","source":"nonsense","image_url":[1]}]}`,
	} {
		if got := Payloads([]byte(none)); len(got) != 0 {
			t.Errorf("%s: %q", none, got)
		}
	}
}
