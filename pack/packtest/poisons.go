package packtest

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
)

// Poison is a group of records that a provider answers with an error when a request has them as they are.
type Poison struct {
	Name    string
	Records func(n int) []string // n makes their ids unlike those of other poisons
}

// HeaderPNG returns a PNG of that size in base64, without pixels, and with so many bytes behind its end.
func HeaderPNG(width, height, more int) string {
	b := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
		from := len(b)
		b = append(append(b, kind...), data...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
	}
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	chunk("IHDR", append(size, 8, 2, 0, 0, 0))
	chunk("IEND", nil)
	return base64.StdEncoding.EncodeToString(append(b, make([]byte, more)...))
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// ImagePart returns a part in Anthropic's form.
func ImagePart(mime, data string) string {
	return fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":%q,"data":%q}}`, mime, data)
}

// SmallJPEG is a JPEG of one pixel in base64.
const SmallJPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/" +
	"wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q=="

// badParts are parts of a user's message, none of which a provider accepts as it is, or not each of them.
var badParts = map[string]string{
	"html as png":       ImagePart("image/png", b64("<!DOCTYPE html><html>404 Not Found</html>")),
	"jpeg as png":       ImagePart("image/png", SmallJPEG),
	"jpg for jpeg":      ImagePart("image/jpg", SmallJPEG),
	"no type":           `{"type":"image","source":{"type":"base64","data":"` + SmallJPEG + `"}}`,
	"too big":           ImagePart("image/png", HeaderPNG(800, 600, 5_300_000)),
	"too tall":          ImagePart("image/png", HeaderPNG(1200, 9000, 0)),
	"tall among many":   ImagePart("image/png", HeaderPNG(2400, 1000, 0)),
	"truncated":         ImagePart("image/png", b64("\x89PNG\r\n\x1a\n")),
	"truncated jpeg":    ImagePart("image/jpeg", b64("\xff\xd8\xff\xe0\x00\x10JFIF")),
	"truncated webp":    ImagePart("image/webp", b64("RIFF\x10\x00\x00\x00WEBPVP8 ")),
	"nothing wide":      ImagePart("image/png", HeaderPNG(0, 9, 0)),
	"bad base64":        ImagePart("image/png", "iVBORw0KGgo*"),
	"lines of base64":   ImagePart("image/png", strings.ReplaceAll(HeaderPNG(3, 3, 90)[:76]+"\n"+HeaderPNG(3, 3, 90)[76:], "\n", `\n`)),
	"svg":               ImagePart("image/svg+xml", b64(`<svg xmlns="http://www.w3.org/2000/svg"/>`)),
	"tiff":              ImagePart("image/tiff", b64("II*\x00\x08\x00\x00\x00")),
	"pdf as image":      ImagePart("application/pdf", b64("%PDF-1.7\n")),
	"empty":             ImagePart("image/png", ""),
	"gif":               ImagePart("image/gif", b64("GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")),
	"moving gif":        ImagePart("image/gif", b64("GIF89a\x01\x00\x01\x00\x00\x00\x00!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"+strings.Repeat(",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00", 2)+";")),
	"heic":              ImagePart("image/heic", b64("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic")),
	"avif":              ImagePart("image/avif", b64("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00")),
	"file url":          `{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}`,
	"address":           `{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}`,
	"file id":           `{"type":"image","source":{"type":"file","file_id":"file_1"}}`,
	"no url":            `{"type":"image_url"}`,
	"url of another":    `{"type":"input_image","image_url":7}`,
	"plain data url":    `{"type":"input_image","image_url":"data:image/png,abc"}`,
	"pdf":               `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjcK"}}`,
	"file":              `{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjcK"}}`,
	"input file":        `{"type":"input_file","file_id":"file_1"}`,
	"audio":             `{"type":"input_audio","input_audio":{"data":"xx","format":"wav"}}`,
	"video":             `{"type":"video","video":{"url":"https://example.org/a.mp4"}}`,
	"unknown":           `{"type":"hologram","data":"AAAA"}`,
	"no part":           `7`,
	"null":              `null`,
	"blank text":        `{"type":"text","text":" \n "}`,
	"half a character":  `{"type":"text","text":"half \ud83d of it"}`,
	"cached":            `{"type":"text","text":"cached","cache_control":{"type":"ephemeral"}}`,
	"cited":             `{"type":"text","text":"cited","citations":[{"type":"char_location"}]}`,
	"search result":     `{"type":"search_result","source":"https://example.org","title":"A","content":[{"type":"text","text":"found"}]}`,
	"thinking of users": `{"type":"thinking","thinking":"hm","signature":"c2ln"}`,
}

// badRecords are records that no provider accepts as they are, or not each of them. ID is replaced.
var badRecords = map[string][]string{
	"call without result":     {`{"role":"assistant","content":null,"tool_calls":[{"id":"ID","type":"function","function":{"name":"ls","arguments":"{}"}}]}`},
	"result without call":     {`{"role":"tool","tool_call_id":"ID","content":"out"}`},
	"result before its call":  {`{"role":"tool","tool_call_id":"ID","content":"out"}`, `{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"ls","arguments":"{}"}}]}`},
	"word before result":      {`{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"ls","arguments":"{}"}}]}`, `{"role":"user","content":"Wait."}`, `{"role":"tool","tool_call_id":"ID","content":"out"}`},
	"one id twice":            {`{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"ls","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"ID","content":"1"}`, `{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"ls","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"ID","content":"2"}`},
	"two results":             {`{"role":"assistant","content":[{"type":"tool_use","id":"ID","name":"ls","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"ID","content":"1"},{"type":"tool_result","tool_use_id":"ID","content":"2"}]}`},
	"result of the assistant": {`{"role":"assistant","content":[{"type":"tool_use","id":"ID","name":"ls","input":{}},{"type":"tool_result","tool_use_id":"ID","content":"1"}]}`},
	"server tool": {`{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_ID","name":"web_search","input":{"query":"q"}},` +
		`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_ID","content":[{"type":"web_search_result","url":"https://example.org","title":"A","encrypted_content":"x"}]},{"type":"text","text":"Found."}]}`},
	"server tool alone":      {`{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_ID","name":"web_search","input":{}}]}`},
	"mcp tool":               {`{"role":"assistant","content":[{"type":"mcp_tool_use","id":"mcptoolu_ID","name":"f","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"mcptoolu_ID","is_error":false,"content":[{"type":"text","text":"x"}]}]}`},
	"custom call alone":      {`{"type":"custom_tool_call","id":"ctc_ID","call_id":"ID","name":"apply_patch","input":"*** Begin Patch"}`},
	"shell call alone":       {`{"type":"local_shell_call","id":"lsh_ID","call_id":"ID","action":{"type":"exec","command":["ls"],"env":{}},"status":"completed"}`},
	"computer call":          {`{"type":"computer_call","id":"cu_ID","call_id":"ID","action":{"type":"wait"},"pending_safety_checks":[],"status":"completed"}`},
	"screenshot alone":       {`{"type":"computer_call_output","call_id":"ID","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,iVBORw0KGgo="}}`},
	"function output alone":  {`{"type":"function_call_output","call_id":"ID","output":"x"}`},
	"reasoning without next": {`{"type":"reasoning","id":"rs_ID","summary":[],"encrypted_content":"gAAA"}`, `{"role":"user","content":"Stop."}`},
	"reasoning twice":        {`{"type":"reasoning","id":"rs_ID","summary":[],"encrypted_content":"gAAA"}`, `{"type":"reasoning","id":"rs_ID","summary":[],"encrypted_content":"gAAA"}`, `{"role":"assistant","content":"So."}`},
	"thinking unsigned":      {`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"So."}]}`},
	"thinking alone":         {`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"}]}`},
	"foreign thinking":       {`{"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"So."}]}`},
	"reasoning of a chat":    {`{"role":"assistant","content":"","reasoning_content":"I need the tool.","tool_calls":[{"id":"ID","type":"function","function":{"name":"ls","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}`, `{"role":"tool","tool_call_id":"ID","content":"4 C"}`},
	"reasoning of no chat":   {`{"role":"assistant","content":"So.","reasoning_content":7,"reasoning_details":"x","reasoning":null}`},
	"reasoning alone":        {`{"role":"assistant","content":null,"tool_calls":[],"reasoning_content":"I need nothing.","reasoning_details":[{"type":"reasoning.text","text":"I"}]}`},
	"signature of gemini":    {`{"role":"assistant","content":[{"type":"text","text":"I look.","thoughtSignature":"c2ln"},{"type":"tool_use","id":"ID","name":"ls","input":{},"thoughtSignature":"c2ln"},{"type":"tool_use","id":"ID2","name":"ls","input":{}}]}`, `{"role":"tool","tool_call_id":"ID","content":"1"}`, `{"role":"tool","tool_call_id":"ID2","content":"2"}`},
	"long reasoning":         {`{"role":"assistant","content":"","reasoning_content":"` + strings.Repeat("I think of the ledger. ", 900) + `","tool_calls":[{"id":"ID","function":{"name":"ls","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"ID","content":"1"}`},
	"long thinking":          {`{"role":"assistant","content":[{"type":"thinking","thinking":"` + strings.Repeat("I think of the ledger. ", 900) + `","signature":"c2ln"},{"type":"text","text":"So."}]}`},
	"bad signature":          {`{"role":"assistant","content":[{"type":"tool_use","id":"ID","name":"ls","input":{},"thoughtSignature":"not base64 *"}]}`, `{"role":"tool","tool_call_id":"ID","content":"1"}`},
	"bad tool name":          {`{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"files.read file","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"ID","content":"1"}`},
	"no tool name":           {`{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"","arguments":"{}"}}]}`},
	"long tool name":         {`{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"` + strings.Repeat("mcp__server__", 20) + `","arguments":"{}"}}]}`},
	"long id":                {`{"role":"assistant","tool_calls":[{"id":"` + strings.Repeat("ID", 60) + `","function":{"name":"ls","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"` + strings.Repeat("ID", 60) + `","content":"1"}`},
	"strange id":             {`{"role":"assistant","tool_calls":[{"id":"ID:é|1","function":{"name":"ls","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"ID:é|1","content":"1"}`},
	"broken arguments":       {`{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"ls","arguments":"{\"dir\":"}}]}`, `{"role":"tool","tool_call_id":"ID","content":"1"}`},
	"half in arguments":      {`{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"ls","arguments":"{\"dir\":\"\\ud83d\"}"}}]}`, `{"role":"tool","tool_call_id":"ID","content":"\udc00 half"}`},
	"list for arguments":     {`{"role":"assistant","content":[{"type":"tool_use","id":"ID","name":"ls","input":["/"]}]}`, `{"role":"tool","tool_call_id":"ID","content":"1"}`},
	"blank assistant":        {`{"role":"assistant","content":"   "}`},
	"null assistant":         {`{"role":"assistant","content":null}`, `{"role":"assistant","content":null,"tool_calls":[]}`},
	"blank at the end":       {`{"role":"assistant","content":"So it is.  \n\n"}`},
	"blank result":           {`{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"ls","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"ID","content":""}`},
	"author's name":          {`{"role":"user","name":"Jane Doe <jane@example.org>","content":"Hello."}`, `{"role":"assistant","name":"Der Überträger","content":"Hello."}`},
	"picture of assistant":   {`{"role":"assistant","content":[{"type":"text","text":"See"},` + ImagePart("image/png", HeaderPNG(9, 9, 0)) + `]}`},
	"picture of system":      {`{"role":"system","content":[{"type":"text","text":"See"},` + ImagePart("image/png", HeaderPNG(9, 9, 0)) + `]}`},
	"late system":            {`{"role":"developer","content":"Be brief."}`},
	"many marks":             {`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"marked","cache_control":{"type":"ephemeral"}},`, 5) + `{"type":"text","text":"end"}]}`},
	"function call of old":   {`{"role":"assistant","content":null,"function_call":{"name":"ls","arguments":"{}"}}`, `{"role":"function","name":"ls","content":"bin"}`},
	"odd records":            {`{"role":"user"}`, `{"role":"robot","content":"x"}`, `{"role":"user","content":{"a":1}}`},
	"a hundred and one":      {`{"role":"user","content":[` + strings.Repeat(ImagePart("image/png", HeaderPNG(9, 9, 0))+",", 100) + ImagePart("image/png", HeaderPNG(8, 8, 0)) + `]}`},
}

// Poisons returns all poisons; their order is that of their names.
func Poisons() (all []Poison) {
	add := func(name string, records ...string) {
		all = append(all, Poison{name, func(n int) (list []string) {
			for _, r := range records {
				list = append(list, strings.ReplaceAll(r, "ID", fmt.Sprint("id", n, "x")))
			}
			return list
		}})
	}
	for _, name := range slices.Sorted(maps.Keys(badParts)) {
		part := badParts[name]
		add(name, `{"role":"user","content":[{"type":"text","text":"What is this?"},`+part+`]}`)
		add(name+" in a result", `{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"shot","arguments":"{}"}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"ID","content":[`+part+`]}]}`)
	}
	for _, name := range slices.Sorted(maps.Keys(badRecords)) {
		add(name, badRecords[name]...)
	}
	return all
}
