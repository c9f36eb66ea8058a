// Package nativetest checks that request bodies are ones that providers take. The rules are those of the providers'
// public documentation of their APIs, read strictly: what one of them only advises is a violation here, too.
//
//	OpenAI     Chat Completions: the create endpoint, "Function calling"
//	Responses  the create endpoint of Responses: input items
//	Anthropic  Messages: the create endpoint, "Tool use", "Extended thinking", "Prompt caching", "Vision"
//	Gemini     generateContent (also as the parameters of Google's Gen AI SDK): Content, Part, FunctionDeclaration, "Function calling"
//
// # Files, from top to bottom
//
//	roles.go      the texts of a body that have the system role
//	check.go      Check: a body against the rules of its format
//	responses.go  Responses
//	items.go      its items that only it has
//	anthropic.go  Messages
//	gemini.go     generateContent
//	openai.go     Chat Completions
//	images.go     images
//	body.go       what the formats share
package nativetest
