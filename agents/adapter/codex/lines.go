package codex

import (
	"github.com/ctxfs/ctxfs/agents/adapter"
)

// The types of lines.
const (
	codexMeta      = "session_meta"
	ItemLine       = "response_item"
	codexEventLine = "event_msg"
	codexCompacted = "compacted"
)

// codexCopied is the type of an event that lists lines of another rollout's session.
const codexCopied = codexName + "/copied"

// codexLine is a line of a rollout.
type codexLine struct {
	whole    adapter.Object
	kind     string // of the line; codexItemLine for an item without an envelope
	bare     bool   // has no envelope
	payload  adapter.Object
	itemType string // of the payload
}

func readCodexLine(raw []byte) (l codexLine, err error) {
	if l.whole, err = adapter.ParseObject(raw); err != nil {
		return l, err
	}
	l.kind = l.whole.Text("type")
	l.payload = l.whole.Object("payload")
	if l.payload == nil && !l.whole.Has("payload") {
		l.bare, l.payload = true, l.whole
		switch {
		case l.whole.Has("record_type"):
			l.kind = l.whole.Text("record_type")
		case l.kind == "" && l.whole.Has("instructions"), l.kind == "" && l.whole.Has("git"):
			l.kind = codexMeta
		case l.kind != "":
			l.kind = ItemLine
		}
	}
	l.itemType = l.payload.Text("type")
	return l, nil
}

// name is the type of the event that keeps the line, behind the format's name.
func (l codexLine) name() string {
	switch {
	case l.kind == "":
		return "line_of_no_type"
	case (l.kind == codexEventLine || l.kind == ItemLine) && l.itemType != "":
		return l.kind + "/" + l.itemType
	case adapter.IsReserved(l.kind), codexName+"/"+l.kind == codexCopied:
		return "line_of_type_" + l.kind
	}
	return l.kind
}

// Item is how an item went into a message, and has what of its line is not there.
type Item struct {
	Line  adapter.Object `json:"line"`
	Parts int            `json:"parts,omitempty"` // of the content that are the item's; see codexWhole
	Key   string         `json:"key,omitempty"`   // of the payload where its content stood
}

const (
	codexWhole = -1 // the content is the item's, as it stands
	Text       = -2 // the item has a text, which is a part of the content here
)

// codexRest is the rest in the stamp of a message.
type codexRest struct {
	Items []Item `json:"items"`
}

// Piece is what an item gives to a message.
type Piece struct {
	Role    string
	Content []byte // what codexItem.Parts says, or one part; nil for none
	call    adapter.Object
	callID  []byte // of a result
	Item    Item
}

// codexCall returns a call of an item as tool_calls have it; nil for what is none of these.
func codexCall(payload adapter.Object) (call adapter.Object, rest adapter.Object) {
	switch payload.Text("type") {
	case "function_call":
		if !adapter.TextAt(payload, "call_id") || !adapter.TextAt(payload, "name") || !adapter.TextAt(payload, "arguments") {
			return nil, nil
		}
		return adapter.Object{{"id", payload.Get("call_id")}, {"type", adapter.Raw("function")},
				{"function", adapter.Raw(adapter.Object{{"name", payload.Get("name")}, {"arguments", payload.Get("arguments")}})}},
			payload.Without("call_id", "name", "arguments")
	case "custom_tool_call":
		if !adapter.TextAt(payload, "call_id") || !adapter.TextAt(payload, "name") || !adapter.TextAt(payload, "input") {
			return nil, nil
		}
		return adapter.Object{{"id", payload.Get("call_id")}, {"type", adapter.Raw("custom")},
				{"custom", adapter.Raw(adapter.Object{{"name", payload.Get("name")}, {"input", payload.Get("input")}})}},
			payload.Without("call_id", "name", "input")
	case "local_shell_call":
		id := payload.Get("call_id")
		if !adapter.TextAt(payload, "call_id") {
			id = payload.Get("id")
		}
		if id == nil || !payload.Has("action") {
			return nil, nil
		}
		return adapter.Object{{"id", id}, {"name", adapter.Raw("local_shell")}, {"arguments", payload.Get("action")}}, payload.Without("action")
	}
	return nil, nil
}

// codexCallBack is codexCall in the other direction.
func codexCallBack(call, rest adapter.Object) adapter.Object {
	switch rest.Text("type") {
	case "function_call":
		f := call.Object("function")
		return rest.With("name", f.Get("name")).With("arguments", f.Get("arguments")).With("call_id", call.Get("id"))
	case "exec_command_begin":
		return rest.With("call_id", call.Get("id")).With("command", call.Get("arguments"))
	case "custom_tool_call":
		c := call.Object("custom")
		return rest.With("name", c.Get("name")).With("input", c.Get("input")).With("call_id", call.Get("id"))
	}
	return rest.With("action", call.Get("arguments"))
}
