// Package runner does the work that belongs to a user outside the store, in processes of its own:
// it opens workspace files with the rights of the session's owner and runs commands that make
// content (generators). [Start] returns a [Client]: the source.Workspace of pack/source and the
// source.Generators of pack/builder. The daemon itself never opens such a path, and it forks the
// broker only.
//
//	daemon (Client) ──control──► broker (broker.go)
//	   │                            │ forks, and hands over the socket of
//	   ├──socket──► reader of uid 1000 (reader.go)
//	   ├──socket──► reader of uid 1001 ...
//	   └──socket──► shim of one run (shim.go) ──► launcher (launcher.go) ──► command
//
// All are the same program: the hidden verb "runner" calls [Main], which selects the role
// (broker.go). Start forks the broker before there is a mount. A reader runs as its user, without
// capabilities. A hanging path holds one slot of one user's reader; nothing else waits for it.
//
// # Decisions
//
//   - Rights of a process: credential (spawn.go), renounce and dropBounds (confine.go).
//   - Limits of a command: confine.go. No core dump, 1,024 descriptors, 64 MiB a file, 4 GiB of
//     private memory a process, CPU time of its timeout on all CPUs, 256 threads more than the user
//     has, and 1,024 processes in a PID namespace of Linux 6.14 or later. Disk space and network
//     have no limit.
//   - Commands at once, 6 of one user and 64 in all: turns.go. Readers at once: link.go, broker.go.
//   - Default timeout, sizes of standard input and arguments: generate.go. Sizes of frames and
//     files: protocol.go. Bytes the client caches: table.go.
//   - Content of a run, output file or standard output: Client.output (generate.go).
//   - Changed inputs of a generator: findInputs (inputs.go), hashes in sums.go.
//   - Stale content if a read hangs or the runner is gone: await, finish (runner.go).
//   - Restart of broker and readers, with growing pauses: supervise.go, link.go.
//   - A generator that reads the pack of its own session: Client.Inside (inside.go). A workspace
//     path that leads to a pack of a mounted session is refused without a lookup: packs.go.
//   - Scripts that other users could replace: a run sees copies of the hashed bytes (held.go).
//     Without mounts of its own, the command does not run.
//   - The environment and descriptors of a command: launcher.go, shim.go. Journal for Delta Engine
//     in the workspace: delta.go.
//   - Trust in a command: pack/source/trust.go and package run/trust, not here.
//
// # End of a run
//
// Output.Sandbox names the level of confinement (confine.go). Where the system allows it (root, or
// a user namespace), the shim is process 1 of a PID namespace, so that its death ends the whole
// run. It dies with the broker, which dies with the daemon. Elsewhere the shim is a subreaper: it
// stops and kills all its descendants (family.go), and the broker does so after the shim's death. A
// command that kills the daemon, the broker, and the shim, all of its own user, can survive them.
//
// A run in a mount namespace keeps the mounts that it began with; mounts.go detaches other mounts
// of ctxfs. The daemon ends all runs after an unmount.
//
// # Invariants
//
//   - The client accepts bounded answers to its own requests only, and gives up on a reader that
//     does not answer. Output of a command is content and nothing else.
//   - Only a daemon of root runs anything as another user.
//   - Client.mu guards all links, calls, and runs. The broker's loop (obey) never waits.
//
// # Files to read first
//
//	runner.go    the client: reads of workspace files
//	generate.go  one run of a generator, in the daemon
//	broker.go    start and end of all processes
//	shim.go      supervision of one run
//	confine.go   limits and confinement of a command
package runner
