package pi

import (
	"encoding/json"
	"fmt"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// recordOf is the record of an entry, without a stamp: a message where the model saw it.
func recordOf(o adapter.Object) (record adapter.Object, event bool) {
	kind := o.Text("type")
	switch kind {
	case "message":
		record = messageOf(o.Object("message"))
	case "custom_message":
		record = userSays(o.Get("content"))
	case "branch_summary":
		if s := o.Text("summary"); s != "" {
			text := "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n" + s + "</summary>"
			record = userSays(adapter.Raw(text))
		}
	case "compaction":
		event := adapter.Object{{"type", adapter.Raw("compaction")}}
		if adapter.TextAt(o, "summary") {
			event = append(event, adapter.Field{"summary", o.Get("summary")})
		}
		return event, true
	case "":
		kind = "line_of_no_type"
	}
	if record == nil {
		return adapter.Object{{"type", adapter.Raw(formatName + "/" + kind)}}, true
	}
	if id := o.Get("id"); adapter.IsString(id) {
		record = append(record, adapter.Field{"id", id})
	}
	return record, false
}

// summaryOf returns the event that delivers a compaction summary. It returns false for all other
// entries.
func summaryOf(o adapter.Object) (event adapter.Object, ok bool) {
	switch m := o.Object("message"); {
	case o.Text("type") == "compaction":
		return adapter.SummaryEvent(o.Text("summary"))
	case m.Text("role") == "compactionSummary":
		return adapter.SummaryEvent(m.Text("summary"))
	}
	return nil, false
}

func userSays(content json.RawMessage) adapter.Object {
	if !adapter.IsString(content) && !adapter.IsArray(content) {
		return nil
	}
	return adapter.Object{{"role", adapter.Raw("user")}, {"content", content}}
}

// messageOf is the record of a message; nil for one that no model saw.
func messageOf(m adapter.Object) adapter.Object {
	switch m.Text("role") {
	case "user", "custom":
		return userSays(m.Get("content"))
	case "assistant":
		parts := answerOf(m.Get("content"), m.Text("api") == "anthropic-messages")
		if len(parts) == 0 {
			return nil // an error, or nothing
		}
		return adapter.Object{{"role", adapter.Raw("assistant")}, {"content", adapter.Raw(parts)}}
	case "toolResult":
		content := m.Get("content")
		if list := m.Array("content"); len(list) == 1 {
			if only, _ := adapter.ParseObject(list[0]); only.Text("type") == "text" && adapter.TextAt(only, "text") {
				content = only.Get("text")
			}
		}
		if !adapter.TextAt(m, "toolCallId") || !adapter.IsString(content) && !adapter.IsArray(content) {
			return nil
		}
		return adapter.ToolResult(adapter.Object{}, m.Get("toolCallId"), m.Get("toolName"), content, string(m.Get("isError")) == "true")
	case "bashExecution":
		if string(m.Get("excludeFromContext")) == "true" || !adapter.TextAt(m, "command") {
			return nil
		}
		return userSays(adapter.Raw(commandText(m)))
	case "branchSummary", "compactionSummary":
		if adapter.TextAt(m, "summary") {
			return userSays(m.Get("summary"))
		}
	}
	return nil
}

// answerOf are the parts of an answer. Only the signatures of Anthropic's models are signatures of a part here.
func answerOf(content json.RawMessage, signed bool) (parts []json.RawMessage) {
	list, _ := adapter.ParseArray(content)
	for _, raw := range list {
		p, err := adapter.ParseObject(raw)
		if err != nil {
			raw = adapter.TextPart(adapter.Raw(string(raw)))
		}
		switch p.Text("type") {
		case "thinking":
			if !adapter.TextAt(p, "thinking") {
				continue
			}
			part, _ := adapter.ParseObject(adapter.ThinkingPart(p.Get("thinking")))
			if signed && adapter.TextAt(p, "thinkingSignature") {
				part = append(part, adapter.Field{"signature", p.Get("thinkingSignature")})
			}
			raw = adapter.Raw(part)
		case "toolCall":
			if !adapter.TextAt(p, "id") || !adapter.TextAt(p, "name") {
				break
			}
			input := p.Get("arguments")
			if !adapter.IsDict(input) {
				input = json.RawMessage("{}")
			}
			raw = adapter.Raw(adapter.Object{{"type", adapter.Raw("tool_use")}, {"id", p.Get("id")}, {"name", p.Get("name")}, {"input", input}})
		case "text":
			if p.Text("text") == "" {
				continue
			}
			if adapter.TextAt(p, "text") {
				raw = adapter.TextPart(p.Get("text"))
			}
		}
		parts = append(parts, raw)
	}
	return parts
}

// commandText is what pi says to the model of a command that the user ran.
func commandText(m adapter.Object) string {
	text := fmt.Sprintf("Ran `%s`\n", m.Text("command"))
	if out := m.Text("output"); out != "" {
		text += "```\n" + out + "\n```"
	} else {
		text += "(no output)"
	}
	if string(m.Get("cancelled")) == "true" {
		text += "\n\n(command cancelled)"
	} else if code := string(m.Get("exitCode")); code != "" && code != "0" && code != "null" {
		text += "\n\nCommand exited with code " + code
	}
	if path := m.Text("fullOutputPath"); string(m.Get("truncated")) == "true" && path != "" {
		text += "\n\n[Output truncated. Full output: " + path + "]"
	}
	return text
}
