// Package native reads and writes a whole session as one file, for another ctxfs: the records, byte
// by byte, in sections for each log and each child. It also reads a plain messages.jsonl or
// events.jsonl. All code is in native.go, with the format drawn at Format.
package native
