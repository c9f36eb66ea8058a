// Package native writes prompts in the formats of providers.
//
//	what pack.md shows ──► script ──► dialogue ──► the provider's JSON
//
// The script knows of each record only what its parts are; the texts are read again when somebody asks for a rendering.
//
// Files, callers above what they call:
//
//	render     Prompt: a rendering, and what it costs
//	gemini     generateContent
//	script     who speaks, in which turn; calls and results together
//	responses  Responses
//	openai     Chat Completions
//	anthropic  Messages
//	thought    thoughts of models
//	repair     what was repaired
//	alternate  two roles in turn
//	tools      tools.json
//	json       JSON with sorted keys
//	dialogue   the script with its texts
package native
