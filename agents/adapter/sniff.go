package adapter

import "bytes"

// SniffBodies returns how sure it is, from 0 to 100, that head begins a transcript of the messages of OpenAI's API, and of Anthropic's.
func SniffBodies(head []byte) (openAI, anthropic int) {
	if h := bytes.TrimSpace(head); len(h) == 0 || h[0] != '{' && h[0] != '[' {
		return 0, 0
	}
	s := ShapeOf(head)
	if s.Has("$.payload", "$.uuid", "$.message", "$.trajectory", "$.trajectory_format", "$.steps", "$.schema_version", "$.source") {
		return 0, 0
	}
	loose, roles := false, false
	ours, theirs := s.Has("$.input.messages", "$.preferred_output", "$.body.messages", "$.functions", "$.tools[].function"),
		s.Has("$.system", "$.anthropic_version", "$.stop_reason", "$.tools[].input_schema", "$.params.messages")
	ours = ours || s.Says("$.model", "gpt*", "o1*", "o3*", "o4*", "ft:*")
	theirs = theirs || s.Says("$.model", "claude*")
	for _, p := range []string{"$", "$[]", "$.messages[]", "$[].messages[]", "$[][]", "$.input.messages[]", "$.body.messages[]", "$.params.messages[]"} {
		if !s.Says(p+".role", "system", "developer", "user", "assistant", "tool", "function") {
			continue
		}
		roles = true
		loose = loose || p == "$" || p == "$[]"
		if s.Has(p + "." + StampKey) {
			return 5, 0
		}
		ours = ours || s.hasOpenAI(p)
		theirs = theirs || s.hasAnthropic(p)
	}
	if !roles {
		return 0, 0
	}
	return sureOfBodies(ours, theirs, loose, s.Has("$.ts", "$[].ts"))
}

// sureOfBodies weighs what was found: keys of OpenAI's API or of Anthropic's, messages that stand loose, in no list of
// messages, and times, which neither API has.
func sureOfBodies(ours, theirs, loose, dated bool) (openAI, anthropic int) {
	switch {
	case ours && theirs && !loose:
		return 70, 70
	case ours && (theirs || dated):
		return 60, 55
	case ours:
		return 90, 5
	case theirs && dated:
		return 20, 60
	case theirs:
		return 5, 90
	case loose:
		return 50, 40
	}
	return 65, 45
}

// hasOpenAI reports whether a message at path p has what only OpenAI's API has.
func (s *Shape) hasOpenAI(p string) bool {
	return s.Has(p+".content[].toolCallId", p+".tool_calls", p+".tool_call_id", p+".function_call", p+".refusal", p+".content[].image_url",
		p+".content[].input_audio", p+".content[].file") || s.Says(p+".role", "function", "tool", "developer")
}

// hasAnthropic reports whether a message at path p has what only Anthropic's API has.
func (s *Shape) hasAnthropic(p string) bool {
	return s.Has(p+".content[].source", p+".content[].cache_control", p+".content[].tool_use_id", p+".stop_reason") ||
		s.Says(p+".content[].type", "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "document")
}
