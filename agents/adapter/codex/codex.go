package codex

import (
	"bytes"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// Format is a rollout of the Codex CLI, the file that it keeps of a session.
//
// Each line is {"timestamp", "type", "payload"}. Those of type response_item
// are what the model is sent and says; those of type event_msg are what the
// user is shown, and repeat it. Rollouts of 2025's first versions have the
// items alone, without an envelope.
var Format = &adapter.Format{
	Name:    codexName,
	Title:   "Codex CLI rollout (JSONL)",
	Sniff:   sniffCodex,
	Import:  importCodex,
	Export:  exportCodex,
	Context: codexContext,
	Notes:   codexNotes(),
}

const codexName = "codex"

// mostAreItems reports whether most lines at the beginning of a transcript are items or rollout
// lines.
func mostAreItems(head []byte) bool {
	read, all := 0, 0
	for raw := range bytes.Lines(head) {
		l, err := readCodexLine(raw)
		if err != nil {
			continue
		}
		if all++; l.kind != ItemLine || IsItem(l.payload) {
			read++
		}
	}
	return 2*read >= all
}

func sniffCodex(name string, head []byte) int {
	if h := bytes.TrimSpace(head); len(h) == 0 || h[0] != '{' {
		return 0
	}
	s := adapter.ShapeOf(head)
	switch rollout := strings.HasPrefix(path.Base(name), "rollout-"); {
	case s.Has("$.payload") && s.Says("$.type", codexMeta, ItemLine, codexEventLine, "turn_context", codexCompacted):
		return 100
	case s.Has("$.record_type") && s.Has("$.id"):
		return 90
	case (s.Has("$.call_id") &&
		s.Says("$.type", "function_call", "function_call_output", "local_shell_call", "custom_tool_call") ||
		s.Has("$.encrypted_content") && s.Says("$.type", "reasoning")) && mostAreItems(head):
		return 90
	case rollout && s.Has("$.timestamp") && s.Has("$.instructions", "$.type"):
		return 80
	case s.Has("$.timestamp") && s.Has("$.instructions") && s.Has("$.id"):
		return 60
	}
	return 0
}
