package claude

import (
	"bytes"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/tidwall/gjson"
)

// Format reads and writes the sessions of Claude Code, one JSON object a
// line, as they stand below ~/.claude/projects. Its records form trees by
// uuid and parentUuid: record.go reads one, tree.go finds which are the
// conversation, import.go makes records of them, export.go and write.go go the
// other way.
var Format = &adapter.Format{
	Name:    claudeName,
	Title:   "Claude Code session (JSONL)",
	Sniff:   sniffClaude,
	Import:  importClaude,
	Export:  exportClaude,
	Context: claudeContext,
	Notes:   claudeBeside,
	IsNote:  isClaudeNote,
}

const claudeName = "claude-code"

// sniffClaude looks for the keys that only this format has, at the top of a
// record: a session that was imported has them deeper.
func sniffClaude(_ string, head []byte) (sure int) {
	for line := range bytes.Lines(adapter.Decode(head)) {
		if sure = max(sure, sniffClaudeLine(bytes.TrimSpace(line))); sure == 100 {
			break
		}
	}
	return sure
}

func sniffClaudeLine(line []byte) int {
	if len(line) == 0 || line[0] != '{' {
		return 0
	}
	has := map[string]bool{}
	typ := ""
	gjson.ParseBytes(line).ForEach(func(k, v gjson.Result) bool { // goes as far as a line that is cut off does
		has[k.Str] = true
		if k.Str == "type" {
			typ = v.Str
		}
		return true
	})
	switch {
	case has["parentUuid"] && (has["sessionId"] || has["uuid"] || has["isSidechain"]):
		return 100
	case typ == "summary" && has["leafUuid"],
		typ == "file-history-snapshot" && has["messageId"],
		typ == "queue-operation" && has["operation"]:
		return 95
	case has["sessionId"] && claudeNotes[typ]:
		return 80
	case (typ == "user" || typ == "assistant") && has["message"] && has["uuid"],
		typ == "system" && has["subtype"] && has["session_id"]: // the stream of `claude -p`
		return 70
	}
	return 0
}

// claudeNotes are types of records that stand in no tree: they say something of the session.
var claudeNotes = map[string]bool{
	"last-prompt": true, "permission-mode": true, "mode": true, "ai-title": true, "custom-title": true, "tag": true,
	"agent-name": true, "agent-color": true, "agent-setting": true, "worktree-state": true, "pr-link": true,
	"continued-in": true, "content-replacement": true, "attribution-snapshot": true, "progress": true, "system": true,
}
