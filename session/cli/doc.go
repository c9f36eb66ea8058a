// Package cli has the verbs that make, show, change, and compare sessions: session, space, head,
// and arrivals. It registers them with [Register].
//
// It may not import pack or fs. search is the one package above session that it imports:
// session rm removes the words of a session from the index. gc/cli has verify and fsck, which check
// the files of all folders.
//
// # Files, from top to bottom
//
//	verbs.go     all verbs of this package
//	session.go   session, session new
//	ls.go        session ls
//	show.go      session show
//	mounted.go   session ls and session show in a mount
//	fork.go      session fork, session rm
//	archive.go   session archive
//	space.go     space
//	head.go      head
//	arrivals.go  arrivals
package cli
