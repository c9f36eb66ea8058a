package session

import "github.com/ctxfs/ctxfs/ctxabi"

// scan is what the index needs of a message, without its text.
type scan struct {
	role    ctxabi.Role
	flags   EntryFlags
	weight  int
	calls   []string // ids of the calls it makes
	answers string   // id of the call it answers: tool_call_id, or that of the first tool_result part
}

// scanMessage reads a record of messages.jsonl. One that does not pass the
// check has a weight nevertheless: it is carried as text.
func scanMessage(line []byte) scan {
	m := ctxabi.DecodeMessage(line)
	s := scan{role: m.Role, weight: m.Weight(), answers: m.CallID}
	if m.Role == ctxabi.RoleUnknown || ctxabi.CheckMessage(line) != nil {
		return scan{weight: s.weight, flags: Damaged}
	}
	for _, c := range m.Calls {
		s.calls = append(s.calls, c.ID)
	}
	if len(m.Calls) > 0 {
		s.flags |= HasCalls
	}
	if len(m.Results) > 0 {
		s.flags |= HasResults
		if s.answers == "" {
			s.answers = m.Results[0].CallID
		}
	}
	if m.Images > 0 {
		s.flags |= HasImages
	}
	return s
}
