// Package chat asks a model at an OpenAI-compatible chat endpoint for one answer. [Complete]
// makes one request; it keeps no state and never retries. Only `ctxfs summarize` uses it.
//
//	Request → POST <base>/chat/completions → Answer: text, usage
//
// Decisions: path of the endpoint: endpoint. Bounds of an answer: maxAnswer. Which answers count as
// errors: Complete. All are in chat.go.
package chat
