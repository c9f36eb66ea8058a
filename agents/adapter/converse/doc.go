// Package converse converts request bodies of Amazon Bedrock's Converse to records and back.
// Package bodies reads and writes the files; this package defines one message.
//
// Open first: converse.go (Format, detection, a message as a record), then foreign.go (records of
// other formats as messages with alternating roles).
package converse
