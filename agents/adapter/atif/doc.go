// Package atif converts trajectories of Harbor's Agent Trajectory Interchange Format, versions 1.0
// to 1.7, to records and back.
//
// Open first: atif.go (Format, detection, steps to records; maxAgents limits nested trajectories
// that become child sessions), then export.go (records to steps; the version of a new file is the
// lowest that has the fields it uses).
package atif
