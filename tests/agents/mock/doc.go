// Package mock plays the providers that agent programs speak to, on loopback: Anthropic's Messages, OpenAI's Responses
// and Chat Completions, and Gemini.
//
//	server.go     the server: which API a request is for, what is recorded of it
//	script.go     what the model says: scripts of steps, chosen by a mark in the user's words
//	anthropic.go  Messages: streams, thinking, tool calls, count_tokens
//	openai.go     Responses and Chat Completions
//	gemini.go     generateContent and streamGenerateContent
//
// The model has no state. The words `[[play NAME]]` of a user choose a [Script]; which step of it comes next is how many
// answers of the model stand behind these words in the request. So a program may ask twice, ask beside, compact or
// resume: the answer follows from the request alone. What fails first and works when it is tried again ([Step.Fail]) is
// the exception: the server counts these.
package mock
