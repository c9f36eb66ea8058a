// Package uimessages has the format of the UIMessages of Vercel's AI SDK.
//
// Files, from top to bottom:
//
//	uimessages.go  a message as records: each step of an answer, and the results of its calls
//	foreign.go     messages of other formats as UIMessages
package uimessages
