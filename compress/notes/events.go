package notes

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// statedTexts are the fields of an event that say what it states, the first that says something
// counts.
var statedTexts = []string{"text", "decision", "fact", "content", "message", "title", "summary", "description"}

// recordSource matches an event's reference to its source records: "messages:29", "events:3-5".
var recordSource = lazy.Regexp(`^(messages|events):[1-9][0-9]{0,9}(-[1-9][0-9]{0,9})?$`)

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

// eventFindings returns what a record of events.jsonl says by its type: a plan or a list, an
// artifact, a decision, or a fact. Its fields, or those of its data, hold the content.
func eventFindings(s Record) []Finding {
	var args map[string]any
	if json.Unmarshal([]byte(s.Text), &args) != nil {
		return nil
	}
	kind := statedKind(s.Type)
	fields := []map[string]any{args, inner(args, "data"), inner(args, "payload"), inner(args, "plan")}
	for _, at := range fields {
		switch {
		case strings.Contains(s.Type, "todo") || strings.Contains(s.Type, "plan"):
			if out := todoItems(at, "event"); len(out) > 0 {
				return out
			}
		case strings.Contains(s.Type, "artifact"):
			return artifact(args)
		case kind != "":
			if out := stated(kind, at); out != nil {
				return out
			}
		}
	}
	return nil
}

// stated returns the statement in the fields of an event.
func stated(kind FindingKind, fields map[string]any) []Finding {
	for _, key := range statedTexts {
		said, _ := fields[key].(string)
		if text := oneLine(said); text != "" {
			source, _ := fields["source"].(string)
			if !recordSource().MatchString(source) {
				source = ""
			}
			return []Finding{{Kind: kind, Text: compress.Clip(text, longSentence), Path: source}}
		}
	}
	return nil
}

func inner(args map[string]any, key string) map[string]any {
	m, _ := args[key].(map[string]any)
	return m
}
