// Package cli has the verbs for the generators of recipes: trust, trust show, summarize, which the
// summarizer of a recipe may run, and the hidden runner, which is the second process of a daemon.
// It registers them with [Register].
//
// It may not import fs, views, or cluster.
//
// # Files, from top to bottom
//
//	verbs.go       all verbs of this package
//	trust.go       trust
//	trust_show.go  trust show
//	summarize.go   summarize
//	runner.go      runner
package cli
