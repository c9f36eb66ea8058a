// Package atif has the format of Harbor's Agent Trajectory Interchange Format, versions 1.0 to
// 1.7.
//
// Files, from top to bottom:
//
//	atif.go    steps to records
//	export.go  the way back
package atif
