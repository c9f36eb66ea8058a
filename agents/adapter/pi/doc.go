// Package pi has the format of the sessions of the coding agent pi.
//
// Files, from top to bottom:
//
//	pi.go      the format
//	import.go  lines to records: the conversation is the path to the last one
//	entry.go   what a line says
//	export.go  the way back
package pi
