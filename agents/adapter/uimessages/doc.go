// Package uimessages converts UIMessages of Vercel's AI SDK (useChat), including version 4, to
// records and back. Package bodies reads and writes the files; this package defines one message.
//
// Open first: uimessages.go (Format, detection, recordsOf: one record per step of an answer and per
// result), then foreign.go (records of other formats as UIMessages).
package uimessages
