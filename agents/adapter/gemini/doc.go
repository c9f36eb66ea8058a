// Package gemini converts chats of Gemini CLI (~/.gemini/tmp/<project>/chats) and request bodies of
// Google's Gemini API to records and back. It defines two formats: Format (gemini.go) and Contents
// (contents.go).
//
//	lines or a document → import.go (lines of one id form one message) → message.go → records
//	records → export.go → lines, or one document if the chat was one
//
// Decisions: version of a message that counts, and rewinds: import.go. New parts of a message that
// grew: message.go. Parts of the API and of a session: parts.go.
//
// # Files, from top to bottom
//
//	gemini.go    Format of the chats, detection
//	import.go    lines and documents to messages
//	message.go   a message to records
//	export.go    records to a chat
//	contents.go  Format of request bodies
//	parts.go     parts of the API to parts of a session, and back
package gemini
