// Package sweagent has the formats of SWE-agent and mini-SWE-agent: one JSON object with a
// trajectory or messages.
//
// Files, from top to bottom:
//
//	sweagent.go  steps and messages to records
//	export.go    the way back
package sweagent
