// Package openhands converts conversations of OpenHands to records and back: events of version 0
// and of version 1, as lines, in an array, or one file each.
//
//	event → openhands.go (version, form of the file) → v0.go or events.go → record
//	records → export.go → events of version 1, and imported events as they were
//
// Decisions: events that form one answer: events.go (action, flush). Actions that are not
// conversation: v0Notes (v0.go).
//
// Files, from top to bottom:
//
//	openhands.go  Format, detection, input in its three forms
//	v0.go         events of version 0
//	events.go     events of version 1, and code for both versions
//	export.go     records to events
package openhands
