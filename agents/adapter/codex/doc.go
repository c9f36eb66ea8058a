// Package codex converts rollouts of the Codex CLI to records and back. Rollouts consist of the
// items of OpenAI's Responses; package responses uses the same reader of items.
//
//	line {"timestamp","type","payload"} → lines.go → Reader (import.go, items.go) → record
//	records → exportCodex, Lines (export.go) → lines
//
// Decisions: items that form one message: import.go. Lines that repeat the conversation: notes.go.
// Lines copied from a parent's rollout (sub-agents, forks): copiedLines (copied.go). Reasoning that
// the API refuses: reasoned.go. Texts before a resumed model: context.go.
//
// # Files, from top to bottom
//
//	codex.go    Format, detection
//	notes.go    lines outside the conversation, and repetitions
//	items.go    items without lines, as in a request
//	import.go   lines to records; items of one message are joined
//	copied.go   lines copied from another rollout
//	export.go   records to lines and items
//	reasoned.go reasoning items without a following text or call
//	context.go  model context before a resume
//	lines.go    types of a line, an item, and a call
package codex
