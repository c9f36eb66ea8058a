package claude

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// claudeBeside lists paths of texts in records that repeat a message or only label an object.
var claudeBeside = []string{
	".toolUseResult", ".tool_use_result", ".mcpMeta", ".todos", ".attachment.content.file.filePath",
	".attachment.content.contents.uri", ".attachment.content.contents.mimeType", ".attachment.content.contents.name",
	".attachment.content.file.cells.cellType", ".attachment.content.file.cells.cell_id",
	".attachment.content.file.cells.language", ".attachment.content.file.cells.outputs.output_type",
	".attachment.content.file.cells.outputs.image",
}

// claudeReminders lists attachment types that become no message, in addition to hooks, changes, and
// reminders.
var claudeReminders = strings.Fields("compact_file_reference pdf_reference already_read_file edited_image_file " +
	"opened_file_in_ide output_style diagnostics plan_mode plan_mode_reentry plan_mode_exit auto_mode auto_mode_exit todo " +
	"skill_listing dynamic_skill invoked_skills skill_discovery command_permissions agent_mention task_status " +
	"async_hook_response structured_output token_usage budget_usd output_token_usage team_context date_change " +
	"max_turns_reached ultrathink_effort companion_intro context_efficiency current_session_memory")

// isClaudeNote reports whether a record that became an event does not belong to the conversation.
func isClaudeNote(source gjson.Result) bool {
	switch typ := source.Get("type").Str; typ {
	case "summary", "file-history-snapshot", "queue-operation":
		return true
	case "assistant":
		return source.Get("isApiErrorMessage").Bool()
	case "user":
		return source.Get("isVisibleInTranscriptOnly").Bool() && !source.Get("isCompactSummary").Bool()
	case "attachment":
		kind := source.Get("attachment.type").Str
		return slices.Contains(claudeReminders, kind) || strings.HasPrefix(kind, "hook_") ||
			strings.HasSuffix(kind, "_delta") || strings.HasSuffix(kind, "_reminder")
	case "result", "started": // of the journal of a workflow
		return source.Get("agentId").Exists() && source.Get("key").Exists()
	default:
		return claudeNotes[typ]
	}
}
