// Package native writes a prompt as request bodies of providers: OpenAI Chat Completions and
// Responses, Anthropic Messages, Gemini generateContent and its SDK form. Package pack gives the
// lines of a pack; [Prompt.Body] returns the body in a [Format].
//
//	lines of pack.md ─► NewScript ─► Script: turns, paired calls and results, repairs   script.go
//	Script ─► Prompt.Dialogue: texts, read again from the logs                          dialogue.go
//	dialogue ─► openai.go, responses.go, anthropic.go, gemini.go ─► JSON                json.go
//
// # Where it is decided
//
//   - Which bodies exist, and when one is made: render.go (Formats, Prompt.Body). A body is made at
//     the first request and kept with the build.
//   - Order of turns, results that are missing or have no call, restored calls: script.go. Which
//     call a result answers, ids, and names: package calls, which the exports of package adapter
//     share.
//   - Which turns become one message, where the footer goes, how much stays in the next request:
//     turns.go.
//   - Changes that make providers accept a history: script.go (scripter), reported by
//     repair.go.
//   - Which text has the system's authority, and which is quoted: dialogue.go
//     (utterance.withoutAuthority). Messages of formats with two roles: alternate.go.
//   - Cache marks of Anthropic: anthropic.go. Items of Responses: items.go, responses.go.
//   - Which images each provider gets: images.go. Thinking that is sent back: thought.go.
//   - Definitions of tools: tools.go. Text of tools.json in pack.md: json.go (ToolsText).
//   - Upper bound of tokens: script.go (Script.Bound), dialogue.go (constants). Limit that a body
//     is checked against: render.go (Prompt.Render, Prompt.Count).
//
// Render returns ErrOverBudget if the body exceeds the limit and ErrIO if a record cannot be read.
// The Script is made with every pack and holds no texts. A [Prompt] is safe for concurrent use of
// Body.
//
// # Files to read first
//
//	render.go     Prompt, formats, token limit
//	script.go     turns, calls, and results
//	dialogue.go   script with texts
//	anthropic.go  one provider as an example
//	repair.go     list of these changes, for the report
package native
