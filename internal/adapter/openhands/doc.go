// Package openhands has the format of OpenHands: events, in files of their own or in an array, of
// version 0 and 1.
//
// Files, from top to bottom:
//
//	openhands.go  events to records
//	events.go     the kinds of events
//	v0.go         those of version 0
//	export.go     the way back
package openhands
