// Package aider converts the chat history of Aider (.aider.chat.history.md, Markdown) to records.
// It has no export.
//
// Open first: aider.go (Format, detection), then import.go (kindOf decides the kind of a line;
// blocksOf splits the file into blocks).
package aider
