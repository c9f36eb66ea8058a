// Package openai has the format of OpenAI's Chat Completions, and of what the AI SDK makes of it.
//
// Files, from top to bottom:
//
//	openai.go   a message as a record
//	aisdk.go    the messages of the AI SDK
//	foreign.go  what was said elsewhere, in the form that the API takes
package openai
