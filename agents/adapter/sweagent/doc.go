// Package sweagent converts trajectories of SWE-agent (Format) and of mini-SWE-agent (Mini) to
// records and back. Each is one JSON object with lists of messages and steps.
//
// Open first: sweagent.go (both formats, detection, messages and steps to records), then export.go
// (records to the lists of the last imported document).
package sweagent
