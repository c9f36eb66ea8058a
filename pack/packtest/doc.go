// Package packtest has histories for the tests of packs: logs in memory, sessions of several kinds, and
// generators that draw them, the hostile included. It does not know the compiler.
//
// # Files, from top to bottom
//
//	draw.go      what is drawn
//	history.go   both logs of a session
//	poisons.go   records that providers refuse
//	picture.go   images
//	log.go       logs in memory, and sessions of a kind
//	findings.go  what was found in a history, kept
//	golden.go    what was written down once
package packtest
