// Package langchain converts messages that LangChain stores (Python and JavaScript) to records and
// back. Package bodies reads and writes the files; this package defines one message.
//
// Open first: langchain.go (Format, detection, a message as a record), then foreign.go (records of
// other formats as stored messages).
package langchain
