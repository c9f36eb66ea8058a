// Package converse has the format of the bodies of requests to Amazon Bedrock's Converse.
//
// Files, from top to bottom:
//
//	converse.go  a message as a record
//	foreign.go   messages of other formats in the form that the API takes
package converse
