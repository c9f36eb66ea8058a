// Package cli has the verbs that explain prompts and show sessions: why, diff, stats, top, and ui.
// It registers them with [Register].
//
// It may not import fs. Without access to the store it reads the files of the mount.
//
// # Files, from top to bottom
//
//	verbs.go    all verbs of this package
//	why.go      why
//	diff.go     diff
//	stats.go    stats
//	top.go      top
//	ui.go       ui
//	inspect.go  the session that a verb reads, in its store or in its mount
package cli
