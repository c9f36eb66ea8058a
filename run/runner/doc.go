// Package runner is a second process that does what belongs to a user outside
// the store: it opens a workspace file as the owner of a session, and runs the
// commands that make content (generators). The process that serves FUSE never opens such a path
// itself and forks nothing but this process: it talks to others over sockets and waits no longer
// than it was told to.
//
// # Processes
//
//	daemon (Client) ──control──► broker
//	   │                            │ forks, and hands over the socket of
//	   ├──socket──► reader of uid 1000
//	   ├──socket──► reader of uid 1001 ...
//	   └──socket──► shim of one run ──► launcher, which becomes the command
//
// [Start] forks the broker before there is a mount. The broker touches no
// user's path and sees no content: it starts readers and shims, kills them and reaps
// them. A reader runs as its user, with that user's groups, without
// capabilities or a way to gain any, and opens what it is asked to open.
// The client talks to it directly (one hop, as every look at a pack waits for it), ends it
// when it is idle or old, and asks for another, with growing pauses, when it
// dies. A path that hangs (a dead network mount, a file inside the very mount
// the daemon serves) holds one slot of one user's reader, and nothing else
// waits for it; a pack of such a mount, whose reader may be waiting for that very read, is known by where it
// stands and not looked up (packs.go). When the broker itself ends, the client starts another, with growing pauses
// (supervise.go). Until it runs, the client answers from the last known content and marks it stale.
//
// All are the same program: the hidden verb "runner" calls [Main].
//
// # Generators
//
// Each run has a shim of its own, which stays who the daemon is. It takes one
// command, starts it as the user, and answers when nothing of it is left. The
// last step before the command is the launcher, which is the user already: it
// sets the limits (confine.go), looks the command up and becomes it, so that
// whatever is wrong with directory, PATH or file is found with the user's
// rights. The command has an empty environment but for what it was given, umask 077, a
// session of its own, /dev/null or the given bytes as standard input, and no other descriptor.
//
// Before it becomes the command, the launcher puts the session's journal where a program of Delta Engine looks for it (delta.go), in a
// workspace that has a place for it.
//
// How a run ends whole:
//
//   - Where the system allows it (root; a user namespace for others) the shim
//     is process 1 of a PID namespace with a /proc of its own. Nothing in there can
//     signal, stop or trace it; SIGKILL to all is one system call; and if it dies
//     all ends with it. It dies with the broker, which dies with the daemon.
//   - Elsewhere it is a subreaper: it stops all that stands below it, so that
//     nothing forks any more, and kills it. A command of the shim's own user can kill the shim;
//     what is left then comes to the broker, a subreaper as well, and ends there. It ends, too,
//     when the socket to the client closes. A command that kills the daemon, the broker and the shim,
//     all of which are its own user's, can survive them.
//
// Output.Sandbox says which it was. Cancelling a run is killing its shim. All that a run started
// stands below its shim, which is how [Client.Inside] knows a generator that reads its own session.
//
// Where others than its user may replace what a command runs, the files are held (held.go): a shim with mounts of its own
// puts a tree over the mountpoint that has copies of the bytes that were hashed, and all else as it is. Without such mounts
// the command is not run.
//
// What declared inputs match is walked by the user's reader, with its rights; the client gets a
// fingerprint of paths and hashes, and no content (inputs.go, sums.go).
//
// Whether a command touched its output file is told by the file's identity
// before and after, asked of the user's reader. So a path that the user cannot
// open, or that is no regular file, costs nobody anything but its source.
//
// # Limits
//
// No core dump, 1,024 descriptors, 64 MiB a file, 4 GiB of private memory a
// process, CPU time of the timeout on all CPUs, 256 threads more than the user has at
// the start, or 1,024 processes in a PID namespace of Linux 6.14 and later,
// which is what bounds root. Four runs of one user at a time, 64 in all; the
// others wait. What is not bounded: disk space as a whole, the network, and what the user's
// other services (cron, a session bus) do when the command asks them.
//
// A run in a mount namespace holds the mounts it began with. Where the system's
// mounts are not shared, an unmounted filesystem is gone only when such runs are over,
// which is why the daemon ends all runs when it sees that it was unmounted.
//
// # Trust
//
// A reader belongs to its user, who may stop or kill it. Each has a socket of
// its own, where the client takes nothing but answers of bounded size to what
// it asked, and gives up on a reader that does not answer. A shim belongs to the daemon's
// user; what a command writes reaches it through pipes, is bounded, and is content and nothing else.
// No daemon but root's runs anything as somebody else.
//
// # Files, from top to bottom
//
// In the daemon:
//
//	generate.go   a run of a generator
//	inputs.go     the files that it declares
//	inside.go     whether a process is part of a run
//	runner.go     the client
//	supervise.go  the broker and its restart
//	link.go       its links to the readers
//	turns.go      who may run a command now
//	table.go      what the client remembers
//
// In the processes that it starts:
//
//	broker.go     starts readers and shims
//	reader.go     answers requests
//	shim.go       watches over one run
//	held.go       the files that a run holds
//	capture.go    what a command writes
//	mounts.go     the mounts that a run does not keep
//	launcher.go   the last step before the command
//	delta.go      the journal for Delta Engine
//	confine.go    what a command may use
//	read.go       opens a file as its user
//	sums.go       the hashes of files
//	packs.go      files that are made of a pack
//
// What both have:
//
//	spawn.go      this program again, in another role
//	family.go     who stands below a process
//	protocol.go   frames, requests and answers
package runner
