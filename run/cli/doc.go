// Package cli has the verbs for the generators of recipes: trust, trust show, summarize, which the
// summarizer of a recipe may run, and the hidden runner, which is the second process of a daemon.
// It registers them with [Register].
//
// It may not import fs, views, or cluster.
package cli
