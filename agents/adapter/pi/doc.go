// Package pi converts sessions of the coding agent pi (~/.pi/agent/sessions, JSONL) to records and
// back. The lines form a tree by parentId; the path from the last line to the root is the
// conversation.
//
//	line → import.go (arrange chooses the conversation) → entry.go (recordOf) → record
//	records → export.go → lines as they were, then new lines
//
// Files, from top to bottom:
//
//	pi.go      Format, detection
//	import.go  lines to records, choice of the branch
//	entry.go   content of one line
//	export.go  records to lines
package pi
