// Package openai converts OpenAI's Chat Completions (messages, requests, fine-tuning and batch
// files) and messages of the AI SDK to records and back. Package bodies reads and writes the files;
// this package defines one message.
//
// Open first: openai.go (Format, detection, a message as a record), then aisdk.go (calls and
// results of the AI SDK) and foreign.go (records of other formats as messages).
package openai
