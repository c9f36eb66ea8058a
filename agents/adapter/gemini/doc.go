// Package gemini has the format of the chats that Gemini CLI keeps, and that of the contents of
// requests to Google's Gemini API, which they are made of.
//
// Files, from top to bottom:
//
//	gemini.go    the format of the chats
//	import.go    lines and documents to messages: those of one id are one
//	message.go   a message to records
//	export.go    the way back
//	contents.go  the bodies of requests
//	parts.go     parts of the API to parts of a session, and back
package gemini
