package opencode

import (
	"bytes"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// Format is a session of opencode as `opencode export` writes it: one document with what it says of
// the session, and of each message what it says of that and its parts. opencode itself keeps its
// sessions in a database, which is not read.
var Format = &adapter.Format{
	Name:   formatName,
	Title:  "opencode session (JSON of `opencode export`)",
	Sniff:  sniff,
	Import: importSession,
	Export: exportSession,
}

const formatName = "opencode"

func sniff(_ string, head []byte) int {
	if h := bytes.TrimSpace(head); len(h) == 0 || h[0] != '{' {
		return 0
	}
	s := adapter.ShapeOf(head)
	switch {
	case s.Has("$.info.slug", "$.info.projectID", "$.info.directory") && s.Has("$.messages["):
		return 100
	case s.Has("$.messages[].info") && s.Has("$.messages[].parts["):
		return 95
	}
	return 0
}
