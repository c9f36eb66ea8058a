package ctxabi

import (
	"fmt"
	"strings"
)

// AppendRequest appends the line of [RequestsFile] for the user's message at a line of the log, and
// returns the extended b:
//
//   - [12] First line of the message. · context/line/12.txt
//
// A message without text is "(no text)". Results of tools are no messages of the user.
func AppendRequest(b []byte, line int, m *Message) []byte {
	text := strings.TrimSpace(m.Text)
	if text == "" {
		if len(m.Results) > 0 {
			return b
		}
		text = "(no text)"
	}
	end := strings.IndexAny(text, "\r\n")
	if end < 0 {
		end = len(text)
	}
	return fmt.Appendf(b, "- [%d] %s · %s/%d.txt\n", line, text[:end], LineDir, line)
}
