package claude

import (
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/tidwall/gjson"
)

// claudeKind is what a record is to the conversation.
type claudeKind uint8

const (
	claudeEvent     claudeKind = iota // nothing that the model saw as a message
	claudePrompt                      // what the user said
	claudeMeta                        // what Claude Code said in the user's place
	claudeResult                      // results of tools
	claudeQueued                      // what the user said while the model worked: an attachment
	claudeAttached                    // what Claude Code attached to that: a file that the model read
	claudeAssistant                   // a part of an answer, or all of it
)

// claudeRecord is what is known of one line.
type claudeRecord struct {
	line   adapter.Line
	bad    string // why it is no record; "" for a record
	id     string // its identity: the uuid, else of its bytes
	native bool   // id is the uuid

	uuid, parent, logical string // "" without one
	root                  bool   // parentUuid is null
	typ, subtype          string
	session, agent        string
	sidechain             bool

	kind      claudeKind
	messageID string   // of the answer that it is a part of
	list      bool     // its content is a list
	calls     []string // ids of calls in it
	answers   []string // ids of calls that its results answer
	source    string   // id of the call that it came from
	tasks     []claudeTask
	usage     bool
	compact   bool // a compaction's summary

	// Filled in by claudeTree.
	chain  string
	up     int  // the message that it follows, -1 for none
	joined bool // that is not what its parentUuid says
	unit   *claudeUnit
	done   bool // it was emitted
}

// claudeTask is a call that starts another agent.
type claudeTask struct{ prompt, description string }

func (r *claudeRecord) isMessage() bool { return r.kind != claudeEvent }

// isPiece reports whether the record is of an answer that may come in several.
func (r *claudeRecord) isPiece() bool {
	return r.kind == claudeAssistant && r.messageID != "" && r.list && r.native
}

// read looks at the line; it returns false when that is not an object.
func (r *claudeRecord) read() bool {
	if !gjson.ValidBytes(r.line.Bytes) {
		return false
	}
	top := gjson.ParseBytes(r.line.Bytes)
	if !top.IsObject() {
		return false
	}
	var signs claudeSigns
	top.ForEach(func(k, v gjson.Result) bool {
		r.readField(k.Str, v)
		signs.readField(k.Str, v)
		return true
	})
	r.kind, r.compact = signs.kindOf(r.typ), signs.compact
	if m := &signs.message; r.isMessage() {
		r.messageID, r.list, r.calls, r.answers, r.tasks, r.usage = m.id, m.list, m.calls, m.answers, m.tasks, m.usage
	}
	return true
}

// readField takes over a field of the line that the record keeps.
func (r *claudeRecord) readField(key string, v gjson.Result) {
	switch key {
	case "type":
		r.typ = strings.Clone(v.Str)
	case "subtype":
		r.subtype = strings.Clone(v.Str)
	case "uuid":
		r.uuid = claudePlain(v)
	case "parentUuid":
		r.parent, r.root = claudePlain(v), v.Type == gjson.Null
	case "logicalParentUuid":
		r.logical = claudePlain(v)
	case "sessionId", "session_id":
		r.session = claudePlain(v)
	case "parent_tool_use_id": // what a program that runs Claude Code reads of it: there a sub-agent is known by its call
		if id := claudePlain(v); id != "" {
			r.agent, r.sidechain = id, true
		}
	case "agentId":
		r.agent = claudePlain(v)
	case "sourceToolUseID":
		r.source = claudePlain(v)
	case "isSidechain":
		r.sidechain = v.Type == gjson.True
	}
}

// claudeSigns are the fields of a line that decide what kind of record it is.
type claudeSigns struct {
	message                               claudeMessage
	queued, meta, compact, hidden, failed bool
	attached                              bool
}

func (s *claudeSigns) readField(key string, v gjson.Result) {
	switch key {
	case "isMeta":
		s.meta = v.Type == gjson.True
	case "isCompactSummary":
		s.compact = v.Type == gjson.True
	case "isVisibleInTranscriptOnly":
		s.hidden = v.Type == gjson.True
	case "isApiErrorMessage":
		s.failed = v.Type == gjson.True
	case "message":
		s.message = readClaudeMessage(v)
	case "attachment":
		prompt := v.Get("prompt")
		s.queued = v.Get("type").Str == "queued_command" && (prompt.Type == gjson.String || prompt.IsArray())
		_, s.attached = attachmentOf(v)
	}
}

// kindOf returns the kind of a record whose field type is typ.
func (s *claudeSigns) kindOf(typ string) claudeKind {
	m := &s.message
	said := m.list || m.text
	switch {
	case typ == "attachment" && s.queued:
		return claudeQueued
	case typ == "attachment" && s.attached:
		return claudeAttached
	case typ == "assistant" && said && (m.role == "" || m.role == "assistant") && !s.failed:
		return claudeAssistant
	case typ != "user" || !said || m.role != "" && m.role != "user" || s.hidden && !s.compact:
		return claudeEvent // among these are the errors that Claude Code says in the model's place: no model saw them
	case len(m.answers) > 0:
		return claudeResult
	case s.meta || s.compact:
		return claudeMeta
	}
	return claudePrompt
}

// claudeMessage is what is looked at in a record's message.
type claudeMessage struct {
	role, id   string
	text, list bool // what its content is
	calls      []string
	answers    []string
	tasks      []claudeTask
	usage      bool
}

func readClaudeMessage(v gjson.Result) (m claudeMessage) {
	if !v.IsObject() {
		return m
	}
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "role":
			m.role = claudePlain(v)
			if v.Type != gjson.String {
				m.role = "none"
			}
		case "id":
			m.id = claudePlain(v)
		case "usage":
			m.usage = v.IsObject()
		case "content":
			m.text, m.list = v.Type == gjson.String, v.IsArray()
			m.calls, m.answers, m.tasks = nil, nil, nil
			if m.list {
				v.ForEach(func(_, part gjson.Result) bool { m.part(part); return true })
			}
		}
		return true
	})
	return m
}

func (m *claudeMessage) part(part gjson.Result) {
	if !part.IsObject() {
		return
	}
	switch part.Get("type").Str {
	case "tool_use":
		if id := claudePlain(part.Get("id")); id != "" {
			m.calls = append(m.calls, id)
		}
		if name := part.Get("name").Str; name == "Task" || name == "Agent" {
			m.tasks = append(m.tasks, claudeTask{strings.Clone(part.Get("input.prompt").Str), strings.Clone(part.Get("input.description").Str)})
		}
	case "tool_result":
		if id := claudePlain(part.Get("tool_use_id")); id != "" {
			m.answers = append(m.answers, id)
		}
	}
}

// said is the text of the record's message, if that is all of it.
func (r *claudeRecord) said() string {
	content := gjson.GetBytes(r.line.Bytes, "message.content")
	if content.IsArray() {
		content = content.Get("0.text")
	}
	return content.Str
}

// claudePlain returns a string that stands in the record as it is, and is short:
// one that can be an identity.
func claudePlain(v gjson.Result) string {
	if v.Type != gjson.String || len(v.Raw) < 3 || len(v.Raw) > 200 || strings.IndexByte(v.Raw, '\\') >= 0 {
		return ""
	}
	return strings.Clone(v.Raw[1 : len(v.Raw)-1])
}

// claudeFields appends an object of what field appends of each of the fields.
func claudeFields(b []byte, object gjson.Result, field func(b []byte, k, v gjson.Result) []byte) []byte {
	b = append(b, '{')
	first := len(b)
	object.ForEach(func(k, v gjson.Result) bool {
		before := len(b)
		if before > first {
			b = append(b, ',')
		}
		comma := len(b)
		if b = field(b, k, v); len(b) == comma {
			b = b[:before]
		}
		return true
	})
	return append(b, '}')
}

func claudeField(b []byte, k, v gjson.Result) []byte {
	return append(append(append(b, k.Raw...), ':'), v.Raw...)
}
