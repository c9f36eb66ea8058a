// Package bodies reads and writes request bodies of chat APIs in all forms in which files keep
// them: an array, JSON lines, or objects with lists of messages. Packages anthropic, converse,
// gemini, langchain, openai, and uimessages pass a [Bodies] that defines one message.
//
//	file → Elements (file.go) → conversations → one record per message (bodies.go)
//	records → elements in their old places, then new messages (write.go) → file
//
// The first conversation of a file belongs to the session; each further one becomes a child. Reads
// (reads.go) decides whether a format understands most of a file.
//
// Files, from top to bottom:
//
//	bodies.go  Bodies, conversations of a file, messages to records
//	reads.go   share of a file that a format understands
//	file.go    elements of a file: array, lines, consecutive JSON values
//	write.go   export, element by element
package bodies
