package ctxabi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// PartKind is what a [Part] is.
type PartKind uint8

// The kinds of parts.
const (
	PartText     PartKind = iota
	PartCall              // of a tool, by an assistant
	PartResult            // of a call
	PartData              // an image, audio or a file: its data is not text
	PartThinking          // of a model: thinking, redacted_thinking, reasoning
)

// Part is one piece of a message.
type Part struct {
	Kind   PartKind
	Text   string // of a text
	Call   Call
	Result Result
	Inner  []Part // of a result: its texts and data
	Raw    []byte // the part as recorded; nil for a result, an item, and a content that is a single text
}

// DecodeParts is DecodeMessage, and beside it all pieces of the message in the
// order in which they were written; a call that stands in two places stands in
// the first one. A line that is not a message has no parts.
func DecodeParts(line []byte) (Message, []Part) {
	p := parts{ordered: true}
	m := p.decode(line)
	return m, p.list(p.order, p.text, &m)
}

func (p *parts) list(order []placed, texts []piece, m *Message) []Part {
	var list []Part
	for _, at := range order {
		part := Part{Kind: at.kind}
		switch at.kind {
		case PartText:
			part.Text, part.Raw = string(texts[at.n].appendText(nil)), texts[at.n].part
		case PartCall:
			part.Call, part.Raw = m.Calls[at.n], p.calls[at.n].raw
		case PartResult:
			part.Result, part.Inner = m.Results[at.n], p.list(p.results[at.n].order, p.inner, m)
		default:
			part.Raw = p.data[at.n]
		}
		list = append(list, part)
	}
	return list
}

// ChatReasoning holds the reasoning fields of an assistant message from a service with OpenAI's
// Chat API. Such a service refuses a history if a call lacks the reasoning that the service
// returned with it. A field that the message lacks is nil.
type ChatReasoning struct {
	ReasoningContent json.RawMessage `json:"reasoning_content,omitempty"` // a string
	Reasoning        json.RawMessage `json:"reasoning,omitempty"`         // a string
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"` // a list
}

// ReasoningOf returns the reasoning fields of a message and skips fields of the wrong type. ok is
// false if there is none.
func ReasoningOf(line []byte) (r ChatReasoning, ok bool) {
	if !bytes.Contains(line, []byte(`"reasoning`)) || json.Unmarshal(line, &r) != nil {
		return ChatReasoning{}, false
	}
	for _, text := range []*json.RawMessage{&r.ReasoningContent, &r.Reasoning} {
		if !isString(*text) {
			*text = nil
		}
	}
	if !isList(r.ReasoningDetails) {
		r.ReasoningDetails = nil
	}
	return r, r.ReasoningContent != nil || r.Reasoning != nil || r.ReasoningDetails != nil
}

// Continuation holds the fields of a call or text that the client must return to its provider
// unchanged.
type Continuation struct {
	Extra     json.RawMessage `json:"extra_content,omitempty"`    // of a call in OpenAI's Chat API: an object
	Signature string          `json:"thoughtSignature,omitempty"` // of a part of Gemini: base64
}

// ContinuationOf returns the continuation fields of a recorded part or call. ok is false if there
// are none. A signature inside extra_content also counts as a Gemini signature.
func ContinuationOf(part []byte) (c Continuation, ok bool) {
	if !bytes.Contains(part, []byte("ignature")) && !bytes.Contains(part, []byte("extra_content")) {
		return c, false
	}
	var p struct {
		Extra json.RawMessage `json:"extra_content"`
		Camel string          `json:"thoughtSignature"`
		Snake string          `json:"thought_signature"`
	}
	var google struct {
		Google struct{ Thought_signature string }
	}
	if json.Unmarshal(part, &p) != nil {
		return c, false
	}
	if isObject(p.Extra) {
		c.Extra = p.Extra
		json.Unmarshal(p.Extra, &google) // a field of another type stays empty
	}
	for _, s := range []string{p.Camel, p.Snake, google.Google.Thought_signature} {
		if c.Signature == "" && isSignature(s) {
			c.Signature = s
		}
	}
	return c, c.Extra != nil || c.Signature != ""
}

// NoSignature is the signature that Gemini's documentation names for a call that another model made.
const NoSignature = "skip_thought_signature_validator"

// isSignature reports whether s is non-empty base64 and not [NoSignature].
func isSignature(s string) bool {
	if s == "" || s == NoSignature {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(s))
	return err == nil
}
