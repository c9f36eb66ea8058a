// Package chat is a client for OpenAI-compatible chat endpoints. [Complete] sends one request; it
// keeps no state and never retries. Only `ctxfs summarize` uses it.
//
//	Request → POST <base>/chat/completions → Answer: text, usage
//
// Decisions, all in chat.go: URL of the endpoint: endpoint. Size limit of a response: maxAnswer.
// Answers that are errors: parseAnswer.
package chat
