package claude

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"

	"github.com/tidwall/gjson"
)

// Claude Code attaches context to a conversation: files that the user named with @ or changed,
// directories, selections, messages of other agents. Each attachment becomes a user message: its
// first part names the object (ctxabi.Attached), its second part has the content. Other attachments
// only remind the model and become events.

// attachment is the part of an attachment record that the model reads.
type attachment struct {
	kind, name string
	content    string          // where in the attachment the string with the content stands; "": text is made of several
	data       string          // the media type of a content in base64; "": it is text
	text       json.RawMessage // a JSON string
}

// attachmentOf parses an attachment. ok is false if the attachment does not belong to the
// conversation.
func attachmentOf(a gjson.Result) (t attachment, ok bool) {
	if t = kindOfAttachment(a); t.content != "" {
		if v := a.Get(t.content); v.Type == gjson.String {
			t.text = json.RawMessage(v.Raw)
		}
	}
	return t, t.kind != "" && t.text != nil
}

// kindOfAttachment parses an attachment without its content, which may be missing. The kind is ""
// if the model does not read the attachment.
func kindOfAttachment(a gjson.Result) (t attachment) {
	first := func(keys ...string) string {
		for _, key := range keys {
			if v := a.Get(key); v.Type == gjson.String && v.Str != "" {
				return v.Str
			}
		}
		return ""
	}
	t.name = first("filename", "path", "planFilePath", "uri", "content.file.filePath", "content.path")
	switch a.Get("type").Str {
	case "file", "new_file":
		t.kind, t.content = "file", "content.file.content"
		switch a.Get("content.type").Str {
		case "image":
			t.content, t.data = "content.file.base64", cmp.Or(first("content.file.type"), "image/png")
		case "pdf":
			t.content, t.data = "content.file.base64", "application/pdf"
		case "notebook":
			t.content, t.text = "", joined(a.Get("content.file.cells"), "source")
		default:
			if !a.Get("content").IsObject() {
				t.content = "content"
			}
		}
	case "directory", "new_directory":
		t.kind, t.content = "directory", "content"
	case "edited_text_file":
		t.kind, t.content = "change", "snippet"
	case "selected_lines_in_ide":
		t.kind, t.content = "selection", "content"
	case "plan_file_reference":
		t.kind, t.content = "plan", "planContent"
	case "nested_memory":
		t.kind, t.content = "file", "content.content"
	case "relevant_memories":
		t.kind, t.text = "memories", joined(a.Get("memories"), "content")
	case "teammate_mailbox":
		t.kind, t.text = "messages", joined(a.Get("messages"), "text")
	case "mcp_resource":
		t.kind = "resource"
		if server := first("server"); server != "" {
			t.name = server + " " + t.name
		}
		contents := a.Get("content.contents")
		if t.text = joined(contents, "text"); len(contents.Array()) == 1 {
			t.content, t.text = "content.contents.0.text", nil
		}
	}
	return t
}

// joined concatenates the strings under key of all elements of list into one JSON string. It
// returns nil if no element has the key.
func joined(list gjson.Result, key string) json.RawMessage {
	var texts []string
	for _, v := range list.Array() {
		if v = v.Get(key); v.Type == gjson.String {
			texts = append(texts, v.Str)
		} else if v.IsArray() { // lines of a cell
			texts = append(texts, strings.Join(stringsOf(v), ""))
		}
	}
	if texts == nil {
		return nil
	}
	return adapter.Raw(strings.Join(texts, "\n\n"))
}

func stringsOf(list gjson.Result) (all []string) {
	for _, v := range list.Array() {
		all = append(all, v.String())
	}
	return all
}

// message returns the content of the message.
func (t *attachment) message() json.RawMessage {
	part := adapter.TextPart(t.text)
	switch {
	case strings.HasPrefix(t.data, "image/"):
		part = mediaPart("image", t.data, t.text)
	case t.data != "":
		part = mediaPart("document", t.data, t.text)
	}
	return adapter.Raw([]json.RawMessage{adapter.TextPart(adapter.Raw(ctxabi.Attached(t.kind, t.name))), part})
}

func mediaPart(kind, mime string, data json.RawMessage) json.RawMessage {
	source := adapter.Object{{"type", adapter.Raw("base64")}, {"media_type", adapter.Raw(mime)}, {"data", data}}
	return adapter.Raw(adapter.Object{{"type", adapter.Raw(kind)}, {"source", adapter.Raw(source)}})
}

// attachedRest returns the line of an attachment without the fields that its message stores: uuid,
// time, and content.
func (r *claudeRecord) attachedRest(givesTime bool) (rest []byte, content json.RawMessage, ts string) {
	line := &adapter.Tree{Raw: r.line.Bytes}
	t, _ := attachmentOf(gjson.ParseBytes(line.At("attachment")))
	if r.native {
		line.Cut("uuid")
	}
	if when := gjson.GetBytes(r.line.Bytes, "timestamp"); givesTime && claudePlain(when) != "" {
		ts = when.Raw
		line.Cut("timestamp")
	}
	if t.content != "" {
		line.Cut("attachment." + t.content)
	}
	return line.Bytes(), t.message(), ts
}

// attachedSource inserts the content of a message into the rest of its line.
func attachedSource(rest gjson.Result, content []byte) gjson.Result {
	t := kindOfAttachment(rest.Get("attachment"))
	parts, ok := adapter.ParseArray(content)
	if !ok || len(parts) != 2 || t.content == "" {
		return rest
	}
	part, _ := adapter.ParseObject(parts[1])
	text := part.Get("text")
	if source := part.Object("source"); source != nil {
		text = source.Get("data")
	}
	line := &adapter.Tree{Raw: json.RawMessage(rest.Raw)}
	line.Put("attachment."+t.content, text)
	return gjson.ParseBytes(line.Bytes())
}
