package ctxabi

// Role is who speaks in a message.
type Role uint8

// The roles. An Event is a record of events.jsonl.
const (
	RoleUnknown Role = iota
	System
	Developer
	User
	Assistant
	Tool
	Event
)

var roleNames = [...]string{"unknown", "system", "developer", "user", "assistant", "tool", "event"}

func (r Role) String() string {
	if int(r) >= len(roleNames) {
		return roleNames[RoleUnknown]
	}
	return roleNames[r]
}

// ParseRole returns RoleUnknown for a role that is not one of the five.
func ParseRole(s string) Role {
	for r := System; r <= Tool; r++ {
		if roleNames[r] == s {
			return r
		}
	}
	return RoleUnknown
}

// Call is one call of a tool by an assistant.
type Call struct {
	ID        string
	Name      string
	Arguments string // as the model wrote them, byte for byte
}

// Result is one tool result carried as a part inside a message (Anthropic's form).
type Result struct {
	CallID  string
	Text    string
	IsError bool
}

// Message is a record of messages.jsonl in one normal form, whichever of the
// accepted forms it was written in. All its strings are valid UTF-8.
type Message struct {
	Role    Role     // RoleUnknown for what is not a message; Text is then the whole line
	ID, TS  string   // the record's own fields, often empty
	Name    string   // the tool's or author's name
	Text    string   // all text of the content, parts joined by a newline
	Calls   []Call   // what an assistant calls
	CallID  string   // the call that a tool record answers
	Results []Result // tool results carried as parts
	Item    string   // the type of a record without a role, one of [ItemTypes]; else ""
	Images  int      // parts whose data is not text (images, audio, files); it is not in Text
}
