// Package anthropic has the format of Anthropic's Messages.
//
// Files, from top to bottom:
//
//	anthropic.go  a message as a record
//	foreign.go    what was said elsewhere, in the form that the API takes: user and assistant take turns
package anthropic
