// Package packtest provides histories for tests of packs: logs in memory, sample sessions, and
// generators that draw random and hostile histories. It does not import the compiler.
//
// Sample sessions are in log.go, random histories in draw.go, and records that providers refuse in
// poisons.go. golden.go decides when a golden file is compared and when it is written (flag
// -update).
//
// # Files, from top to bottom
//
//	draw.go      random histories and texts
//	history.go   both logs of a session in memory
//	poisons.go   records that providers refuse
//	picture.go   images
//	log.go       a log in memory, sample sessions
//	golden.go    golden files
package packtest
