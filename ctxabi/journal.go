package ctxabi

import "encoding/json"

// Types of the records of [JournalFile], as Delta Engine calls them.
const (
	JournalUser    = "USER_MESSAGE"
	JournalThought = "THOUGHT"
	JournalRequest = "ACTION_REQUEST"
	JournalResult  = "ACTION_RESULT"
)

// JournalRecord is a line of [JournalFile]. Its payload is a JournalSaid, a JournalAnswer, a JournalAction or a JournalOutcome.
type JournalRecord struct {
	Type    string `json:"type"`
	Payload any    `json:"payload"`
}

// JournalSaid is the payload of a JournalUser.
type JournalSaid struct {
	Content string `json:"content"`
}

// JournalAnswer is the payload of a JournalThought: what an assistant said, without its thinking, and what it calls.
type JournalAnswer struct {
	Content string        `json:"content"`
	Calls   []JournalCall `json:"tool_calls,omitempty"`
}

// JournalCall is a call in OpenAI's form.
type JournalCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"` // "function"
	Function JournalFunction `json:"function"`
}

// JournalFunction is what a JournalCall calls.
type JournalFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // as the model wrote them
}

// JournalAction is the payload of a JournalRequest: a call once more, on its own.
type JournalAction struct {
	ID   string `json:"action_id"` // of the call
	Tool string `json:"tool_name"`
}

// JournalOutcome is the payload of a JournalResult: what a call came to.
type JournalOutcome struct {
	ID          string `json:"action_id"` // of the call
	Observation string `json:"observation_content"`
}

// AppendJournal appends the lines of [JournalFile] that stand for a message, each with its newline, and returns the extended b. A
// message of a system or a developer has none, nor has what is not a message. The same message has the same bytes.
func AppendJournal(b []byte, m *Message) []byte {
	enc := json.NewEncoder((*appender)(&b))
	enc.SetEscapeHTML(false)
	line := func(typ string, payload any) {
		if err := enc.Encode(JournalRecord{typ, payload}); err != nil {
			panic(err) // these are strings, and an appender takes all
		}
	}
	if m.Role == Assistant {
		said := JournalAnswer{Content: m.Text}
		for _, c := range m.Calls {
			said.Calls = append(said.Calls, JournalCall{c.ID, "function", JournalFunction{c.Name, c.Arguments}})
		}
		line(JournalThought, said)
		for _, c := range m.Calls {
			line(JournalRequest, JournalAction{c.ID, c.Name})
		}
	}
	if m.Role == Assistant || m.Role == User || m.Role == Tool {
		for _, r := range m.Results {
			line(JournalResult, JournalOutcome{r.CallID, r.Text})
		}
	}
	alone := len(m.Results) == 0 || m.Text != ""
	switch {
	case m.Role == User && alone:
		line(JournalUser, JournalSaid{m.Text})
	case m.Role == Tool && alone:
		line(JournalResult, JournalOutcome{m.CallID, m.Text})
	}
	return b
}

// appender is a writer at the end of a slice.
type appender []byte

// Write appends p. It never fails.
func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}
