// Package nativetest checks that request bodies are valid for their providers. It is for tests.
// [Check] takes a body and its format and returns the violations. The rules follow the public API
// documentation and read it strictly: a recommendation counts as a rule. [CheckRendering] also
// checks the promises of ctxfs for its renderings: alternating roles, the place of the footer, and
// cache marks.
//
//	OpenAI     Chat Completions: the create endpoint, "Function calling"
//	Responses  the create endpoint of Responses: input items
//	Anthropic  Messages: the create endpoint, "Tool use", "Extended thinking", "Prompt caching",
//	           "Vision"
//	Gemini     generateContent, also as the parameters of Google's Gen AI SDK: Content, Part,
//	           FunctionDeclaration, "Function calling"
//
// The rules of a provider are decided in the file of its name, limits of images in images.go
// (limitsOf), and rules that all formats share (names, ids, schemas, pairs of calls and results) in
// body.go. The texts with the system role are found by roles.go (SystemTexts).
//
// # Files, from top to bottom
//
//	roles.go      texts of a body with the system role
//	rendering.go  CheckRendering
//	check.go      Check: choice of the rules by format
//	responses.go  Responses
//	items.go      item types of Responses
//	anthropic.go  Messages
//	gemini.go     generateContent
//	openai.go     Chat Completions
//	images.go     limits and forms of images
//	body.go       rules that all formats share
package nativetest
