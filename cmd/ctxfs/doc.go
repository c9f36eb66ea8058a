// Command ctxfs mounts a store of agent sessions as a filesystem and works on
// stores from a shell. Each verb has a file of its own. Called as
// mount.fuse.ctxfs it is the helper of mount(8).
//
// A verb has flags, words and exit codes; what a second program could want is in the packages that
// it calls. An error of a verb is one sentence on standard error, and a code of exit.go.
//
// # Files, from top to bottom
//
//	main.go             the program under its names, and as the second process of a daemon
//	root.go             all verbs
//
// Mounts:
//
//	mounthelper.go      mount.fuse.ctxfs
//	mount.go            mount
//	serve.go            the daemon
//	daemonise.go        how it starts: in the background, and with a socket of systemd
//	logging.go          its log
//	umount.go           umount
//	unmounted.go        whether it is still mounted
//
// For agents:
//
//	hook.go             hook
//	hook_context.go     what a hook adds to a context
//	hook_told.go        what a context has already
//	mcp.go              mcp
//	memory.go           memory
//	snippet.go          snippet
//
// Transcripts:
//
//	import.go           import
//	progress.go         how far it is
//	export.go           export
//	losses.go           what could not be carried
//
// Sessions, and what belongs to a user:
//
//	session.go          session, session new
//	session_ls.go       session ls
//	session_show.go     session show
//	session_mounted.go  both in a mount
//	session_fork.go     session fork, session rm
//	session_archive.go  session archive
//	space.go            space
//	trust.go            trust
//	trust_show.go       what would be trusted
//
// Prompts:
//
//	eval.go             eval
//	eval_exam.go        eval exam
//	why.go              why
//	recipe_show.go      recipe show
//	recipe_check.go     recipe check
//	recipe.go           recipe, and the file of one
//	redact_recipe.go    a recipe without secrets
//	diff.go             diff
//	stats.go            stats
//	search.go           search
//	inspect.go          the session that these look at
//	pack.go             pack
//
// The store and the machine:
//
//	gc.go               gc
//	fsck.go             fsck
//	verify.go           verify
//	head.go             head
//	doctor.go           doctor
//	checks_host.go      what it checks of units, Docker and this machine
//	checks.go           what it checks of kernel, store and mounts
//
// The program itself:
//
//	genman.go           the man pages
//	completion.go       completion, and what a shell is offered
//	version.go          version
//
// What verbs share:
//
//	inmount.go          a directory of a mount
//	reach.go            a session in its mount or in the store
//	where.go            the store and the session that are meant
//	meant.go            the mount that is meant
//	asking.go           mounts that may not answer
//	redact.go           whether secrets are shown
//	daemoninfo.go       what a daemon notes in its store
//	lockholder.go       who has a store locked
//	print.go            JSON, numbers and lines on a terminal
//	exit.go             errors in words, and exit codes
package main
