// Package anthropic converts Anthropic's Messages (requests, responses, batches, and the files of
// Cline) to records and back. Package bodies reads and writes the files; this package defines one
// message.
//
// Open first: anthropic.go (Format, detection, a message as a record), then foreign.go (records of
// other formats as messages with alternating roles).
package anthropic
