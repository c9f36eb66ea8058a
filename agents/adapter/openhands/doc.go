// Package openhands has the format of OpenHands: events, in files of their own or in an array, of
// version 0 and 1.
//
// Files, from top to bottom:
//
//	openhands.go  the format, and what it reads
//	v0.go         the events of version 0
//	events.go     those of version 1, and what both have
//	export.go     the way back
package openhands
