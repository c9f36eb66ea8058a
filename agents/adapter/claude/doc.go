// Package claude converts sessions of Claude Code (~/.claude/projects, JSONL) to records and back.
// The lines form a tree by uuid and parentUuid; one path from the root to a leaf is the
// conversation.
//
//	line → record.go (kind) → tree.go (conversation or abandoned branch) → import.go → record
//	records → export.go (order, own lines as they were) → write.go (lines for other records)
//
// Decisions: branch that is the conversation: claudeTree (tree.go). Lines that are no part of the
// conversation: notes.go, record.go. Attachments that become messages: attached.go. Large results
// in tool-results/: beside.go. Token counts of an answer: import.go. Texts before a resumed model:
// context.go. Package transcript finds the files of sub-agents.
//
// # Files, from top to bottom
//
//	claude.go   Format, detection
//	notes.go    records and fields outside the conversation
//	import.go   conversation to records
//	beside.go   results in separate files
//	tree.go     tree of the lines, choice of the branch
//	export.go   order of an export, lines as they were
//	accept.go   data that the provider refuses, replaced
//	write.go    records of other formats as lines
//	record.go   one line and its fields
//	attached.go attachments of a user message
//	context.go  model context before a resume
package claude
