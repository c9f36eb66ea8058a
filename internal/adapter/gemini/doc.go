// Package gemini has the format of the chats that Gemini CLI keeps.
//
// Files, from top to bottom:
//
//	gemini.go    the format
//	import.go    lines and documents to messages: those of one id are one
//	message.go   a message to records
//	export.go    the way back
//	parts.go     parts of the API to parts of a session, and back
package gemini
