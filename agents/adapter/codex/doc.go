// Package codex has the format of the rollouts of the Codex CLI, and reads and writes the items of
// OpenAI's Responses, which they are made of, for package responses.
//
// Files, from top to bottom:
//
//	codex.go    the format
//	notes.go    lines that are no part of the conversation, and those that repeat it
//	items.go    items without lines, as a request has them
//	import.go   lines to records: items that belong to one message become one
//	copied.go   lines that are a copy of another rollout
//	export.go   records to lines and items
//	reasoned.go reasoning with the item that it led to
//	context.go  what a model has before it
//	lines.go    a line, an item, a call
package codex
