// Package claude has the format of the sessions of Claude Code: a tree of lines, of which one way
// from the root to a leaf is the conversation.
//
// Files, from top to bottom:
//
//	claude.go   the format
//	notes.go    records and fields that are no part of the conversation
//	import.go   the conversation of a tree as records
//	beside.go   what it keeps in files beside the transcript
//	tree.go     the tree of the lines
//	export.go   records of the format, line by line
//	accept.go   data of records from elsewhere that the provider accepts
//	write.go    records from elsewhere as lines
//	record.go   one line, and its fields
//	attached.go what is attached to what the user says
//	context.go  what a model has before it
package claude
