// Package native writes prompts in the formats of providers.
//
//	what pack.md shows ──► script ──► dialogue ──► the provider's JSON
//
// The script knows of each record only what its parts are; the texts are read again when somebody asks for a rendering.
//
// # Files, from top to bottom
//
//	render.go     Prompt: a rendering, and what it costs
//	gemini.go     generateContent
//	script.go     who speaks, in which turn; calls and results together
//	calls.go      the calls of a turn
//	responses.go  Responses
//	items.go      items of Responses as they are
//	openai.go     Chat Completions
//	anthropic.go  Messages
//	thought.go    thoughts of models
//	images.go     the images that each provider gets
//	repair.go     what was repaired
//	alternate.go  two roles in turn
//	tools.go      tools.json
//	json.go       JSON with sorted keys
//	dialogue.go   the script with its texts
package native
