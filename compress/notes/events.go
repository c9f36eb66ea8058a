package notes

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Harnesses note in events what their agents decide, state and plan. Such an event says so by its
// type, and needs no reading of prose.

// statedTexts are the fields of an event that say what it states, the first that says something counts.
var statedTexts = []string{"text", "decision", "fact", "content", "message", "title", "summary", "description"}

// recordSource matches an event's reference to its source records: "messages:29", "events:3-5".
var recordSource = lazy.Regexp(`^(messages|events):[1-9][0-9]{0,9}(-[1-9][0-9]{0,9})?$`)

// maxStated is how many bytes of what an event states are noted.
const maxStated = 400

// statedKind returns what an event of a type states; "" for most.
func statedKind(eventType string) FindingKind {
	for _, part := range strings.FieldsFunc(strings.ToLower(eventType), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch part {
		case "decision", "decided":
			return FoundDecision
		case "fact", "constraint", "preference":
			return FoundFact
		}
	}
	return ""
}

// statedEvent returns what a record states that is an event; none if it has no text.
func statedEvent(kind FindingKind, record string) []Finding {
	var args map[string]any
	if json.Unmarshal([]byte(record), &args) != nil {
		return nil
	}
	for _, at := range []map[string]any{args, inner(args, "data"), inner(args, "payload")} {
		for _, key := range statedTexts {
			said, _ := at[key].(string)
			if text := strings.Join(strings.Fields(said), " "); text != "" {
				text = compress.Clip(text, maxStated)
				source, _ := at["source"].(string)
				if !recordSource().MatchString(source) {
					source = ""
				}
				return []Finding{{Kind: kind, Text: text, Key: content(splitWords(text, nil), true), Path: source}}
			}
		}
	}
	return nil
}

func inner(args map[string]any, key string) map[string]any {
	m, _ := args[key].(map[string]any)
	return m
}
