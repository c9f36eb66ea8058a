// Package langchain has the format of the messages that LangChain stores.
//
// Files, from top to bottom:
//
//	langchain.go  stored messages to records
//	foreign.go    what was said elsewhere as stored messages
package langchain
