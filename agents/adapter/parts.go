package adapter

import (
	"encoding/json"
	"fmt"
)

func IsString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }
func IsArray(raw json.RawMessage) bool  { return len(raw) > 0 && raw[0] == '[' }
func IsDict(raw json.RawMessage) bool   { return len(raw) > 0 && raw[0] == '{' }

// TextPart is a part of content that says raw, a string.
func TextPart(raw json.RawMessage) json.RawMessage {
	return Raw(Object{{"type", Raw("text")}, {"text", raw}})
}

// ThinkingPart is a part of thinking in the words of raw, a string.
func ThinkingPart(raw json.RawMessage) json.RawMessage {
	return Raw(Object{{"type", Raw("thinking")}, {"thinking", raw}})
}

// ImageURLPart is an image in a form whose data a session shows as a blob. url is a string.
func ImageURLPart(url json.RawMessage) json.RawMessage {
	return Raw(Object{{"type", Raw("image_url")}, {"image_url", Raw(Object{{"url", url}})}})
}

// contentOf is the content of a message that has these parts.
func PartsContent(parts []json.RawMessage) json.RawMessage {
	if len(parts) == 0 {
		return Raw("")
	}
	return Raw(parts)
}

// ToolResult is the content of a message of a result: of one that failed a part that says so.
func ToolResult(o Object, callID, name json.RawMessage, content json.RawMessage, failed bool) Object {
	if failed {
		part := Raw(Object{{"type", Raw("tool_result")}, {"tool_use_id", callID}, {"content", content}, {"is_error", Raw(true)}})
		return OpenHandsRecord("user", Raw([]json.RawMessage{part}), o)
	}
	more := []Field{{"tool_call_id", callID}}
	if IsString(name) {
		more = append(more, Field{"name", name})
	}
	return OpenHandsRecord("tool", content, o, more...)
}

// OpenHandsSaid are the parts of a message, its thinking first. o has what a model thought.
func OpenHandsSaid(o Object, content json.RawMessage) []json.RawMessage {
	var parts []json.RawMessage
	for _, b := range o.Array("thinking_blocks") {
		if IsDict(b) {
			parts = append(parts, b)
		}
	}
	if item := o.Object("responses_reasoning_item"); item != nil {
		parts = append(parts, reasoningPart(item))
	}
	if r := o.Get("reasoning_content"); len(parts) == 0 && IsString(r) && len(r) > len(`""`) {
		parts = append(parts, ThinkingPart(r))
	}
	return append(parts, OpenHandsParts(content)...)
}

// reasoningPart is a reasoning item of OpenAI's Responses, whose summary OpenHands keeps as strings.
func reasoningPart(item Object) json.RawMessage {
	part := Object{{"type", Raw("reasoning")}}
	if id := item.Get("id"); id != nil {
		part = append(part, Field{"id", id})
	}
	summary := []json.RawMessage{}
	for _, s := range item.Array("summary") {
		if IsString(s) {
			s = Raw(Object{{"type", Raw("summary_text")}, {"text", s}})
		}
		summary = append(summary, s)
	}
	part = append(part, Field{"summary", Raw(summary)})
	if e := item.Get("encrypted_content"); IsString(e) {
		part = append(part, Field{"encrypted_content", e})
	}
	return Raw(part)
}

// OpenHandsParts are the parts of a content: a list, a string, or nothing.
func OpenHandsParts(content json.RawMessage) []json.RawMessage {
	if IsString(content) {
		if string(content) == `""` {
			return nil
		}
		return []json.RawMessage{TextPart(content)}
	}
	var parts []json.RawMessage
	list, _ := ParseArray(content)
	for _, p := range list {
		o, err := ParseObject(p)
		urls := o.Array("image_urls")
		if err != nil || o.Text("type") != "image" || len(urls) == 0 {
			parts = append(parts, p)
			continue
		}
		for _, url := range urls {
			parts = append(parts, ImageURLPart(url))
		}
	}
	return parts
}

// head is the beginning of a message, and tail its end.
func OpenHandsRecord(role string, content json.RawMessage, o Object, more ...Field) Object {
	record := append(Object{{"role", Raw(role)}, {"content", content}}, more...)
	if id := o.Get("id"); id != nil {
		record = append(record, Field{"id", id})
	}
	if ts := o.Get("timestamp"); ts != nil {
		record = append(record, Field{"ts", ts})
	}
	return record
}

// OfChain returns the records of one chain. That there are others is a loss, where lost is not nil.
func OfChain(records []Record, chain string, lost *Tally) (of []Record) {
	others := map[string]bool{}
	for _, r := range records {
		if r.Chain == chain {
			of = append(of, r)
		} else if lost != nil && !others[r.Chain] {
			others[r.Chain] = true
			lost.Add(fmt.Sprintf("child %q", r.Chain), "a child session has no place in the format")
		}
	}
	return of
}

// ReadObject returns the object that a document is, without blanks. Of one that is cut off it is what
// can be read; nil is one that was kept as it stands. It returns the error of out.
func ReadObject(in *Input, out Output, format string, doc Line) (json.RawMessage, error) {
	raw := doc.Bytes
	why := doc.Problem
	if why == "" && !json.Valid(raw) {
		whole, lost, ok := Mended(raw, 2)
		if why = "is not JSON"; ok {
			why = ""
			out.Loss(Loss{doc.Where(), fmt.Sprintf("is cut off: its last %d bytes are not read; import again when it is whole", lost)})
			raw = whole
		}
	}
	if why == "" && !IsDict(raw) {
		why = "is not a JSON object"
	}
	if why != "" {
		return nil, doc.Keep(in, out, Stamp{Format: format, IDs: []string{SourceID(doc.Bytes, 0)}, At: []int{0}}, why)
	}
	return CompactJSON(raw), nil
}
