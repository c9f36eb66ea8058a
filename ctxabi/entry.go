package ctxabi

// Entry is what an index keeps of one record of a log.
type Entry struct {
	Offset int64 // of the record's first byte
	Len    int32 // bytes without the newline
	Weight int32 // [Weight] of what a pack would show of it in full
	Tokens int32 // exact count of the full rendering in the index's encoding, or 0 when not counted yet
	CallOf int32 // for a tool result: the line of the call in the same log that it answers, else 0
	Events int32 // number of events that had arrived before it (messages only)
	Role   Role  // RoleUnknown for a record that is damaged
	Flags  EntryFlags
}

// End returns the offset at which the next record begins.
func (e Entry) End() int64 { return e.Offset + int64(e.Len) + 1 }

// EntryFlags are facts about a record.
type EntryFlags uint8

// The flags.
const (
	HasCalls   EntryFlags = 1 << iota // an assistant record that calls tools; a tool_call event
	HasResults                        // carries tool results as parts (Anthropic's form); a tool_result event
	HasImages                         // carries image parts
	Damaged                           // does not pass the check: served, reported, carried as text
)

// EventPlace is the place of a tool_call or tool_result event that has no twin
// among the messages.
type EventPlace struct {
	Line  int32 // in events.jsonl
	After int32 // the message behind which it stands; 0: in front of all
}
