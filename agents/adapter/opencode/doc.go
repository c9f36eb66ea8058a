// Package opencode converts sessions that `opencode export` writes to records and back. Package
// transcript runs that program to get them.
//
//	document → import.go (messages) → parts.go (parts) → records
//	records → export.go (imported messages as they were) → foreign.go (new messages) → document
//
// Decisions: answers that are still unfinished, and new parts of a message that grew: import.go.
// Parts that are not conversation: parts.go. Ids of exported messages: foreign.go.
//
// Files, from top to bottom:
//
//	opencode.go  Format, detection
//	import.go    messages with their parts to records
//	parts.go     parts of opencode to parts of a session
//	export.go    records to a document
//	foreign.go   messages for records of other formats
package opencode
