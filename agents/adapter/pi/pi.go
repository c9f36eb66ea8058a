package pi

import (
	"bytes"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// Format is a session of pi, ~/.pi/agent/sessions/<directory>/<time>_<id>.jsonl.
//
// The first line is the head. All others are entries of a tree by their parentId, of which the path
// from the last one to its root is the conversation; those of the first version have no ids and stand
// behind each other.
var Format = &adapter.Format{
	Name:   formatName,
	Title:  "pi session (JSONL)",
	Notes:  []string{".message.output"}, // of a command that the user kept from the model
	Sniff:  sniff,
	Import: importSession,
	Export: exportSession,
}

const formatName = "pi"

func sniff(_ string, head []byte) int {
	if h := bytes.TrimSpace(head); len(h) == 0 || h[0] != '{' {
		return 0
	}
	s := adapter.ShapeOf(head)
	switch {
	case s.Says("$.type", "session") && s.Has("$.cwd") && s.Has("$.id") && s.Has("$.timestamp"):
		return 100
	case s.Has("$.parentId") && s.Says("$.type", "message") && s.Has("$.message.role"):
		return 95
	}
	return 0
}
