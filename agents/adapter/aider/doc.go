// Package aider has the format of the chat history that Aider keeps.
//
// Files, from top to bottom:
//
//	aider.go   the format
//	import.go  blocks of Markdown to records
package aider
