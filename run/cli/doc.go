// Package cli implements the verbs for the generators of recipes: trust, trust show, summarize, and
// the hidden runner. A summarizer with an API runs summarize; a daemon starts runner as its second
// process. [Register] adds the verbs to the root command.
//
// It may not import fs or views.
//
// # Files, from top to bottom
//
//	verbs.go       all verbs of this package
//	trust.go       trust
//	trust_show.go  trust show
//	summarize.go   summarize
//	runner.go      runner
package cli
