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
//	serve_end.go        how it comes to its end
//	daemonise.go        how it starts: in the background, and with a socket of systemd
//	mount_cluster.go    a mount of a cluster
//	umount.go           umount
//
// For agents:
//
//	install.go          install
//	top.go              top
//	ui.go               ui
//	hook.go             hook
//	mcp.go              mcp
//	memory.go           memory
//	snippet.go          snippet
//
// Transcripts:
//
//	import_all.go       import --all
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
//	session_publish.go  session publish, session withdraw
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
//	history.go          history
//	arrivals.go         arrivals
//	doctor.go           doctor
//	doctor_programs.go  the agent programs that it finds
//
// Many machines:
//
//	cluster.go          cluster, cluster init, cluster join, cluster token
//	cluster_serve.go    cluster serve
//	cluster_tend.go     what serve does beside the server: journals and objects are tended
//	cluster_status.go   cluster status
//	doctor_cluster.go   the cluster of this machine
//	cluster_heal.go     cluster heal, cluster scrub
//	cluster_backup.go   backup and restore of it
//
// The program itself:
//
//	genman.go           the man pages
//	completion.go       completion, and what a shell is offered
//	version.go          version
//
// What verbs share:
//
//	flags.go            flags of several verbs
//	reach.go            a session in its mount or in the store
//	touch.go            the child that touches a mount
//	redact.go           whether secrets are shown
//	print.go            JSON, numbers and lines on a terminal
//	exit.go             errors in words, and exit codes
package main
