// Package opencode has the format of the sessions that opencode exports.
//
// Files, from top to bottom:
//
//	opencode.go  the format
//	import.go    messages with their parts to records
//	parts.go     parts of opencode to parts of a session
//	export.go    the way back
//	foreign.go   what was said elsewhere, as opencode has it
package opencode
