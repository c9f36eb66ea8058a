// Package mounts finds the ctxfs mounts of this machine and determines whether their daemons
// answer, without touching a mount: a stat, an open, or a statfs in a mount with a stopped daemon
// may never return.
//
//	/proc/self/mountinfo → Ctxfs, Own, OfStore, At (table.go) → Info
//	Info → Asker.Ask (ask.go) → socket of the daemon (Listen in listen.go)
//	                          → no socket (container, older daemon): a child touches the mount
//	     → Mount: answers, does not answer, stopped, zombie, or gone, before a deadline
//
// # Decisions
//
//   - which mounts are ctxfs mounts, and the mount of a path: table.go. [At] follows links only up
//     to the mountpoint
//   - mounts that count if none is named (of root and of the calling user): [Own] in table.go
//   - when a daemon counts as silent, stopped, or dead: ask.go. A child that hangs is killed
//   - which process may answer: ask.go. The kernel names the user of a socket, so only the owner of
//     the mount can answer for it
//   - name of the socket (device number and store): listen.go
//   - messages and remedies about a mount that does not answer: Trouble and Remedy in ask.go
//   - reason of a refused call, from errors.jsonl: refused.go
//
// # Files, from top to bottom
//
//	ask.go      asks the daemon of a mount
//	listen.go   the daemon's side: answers on a socket
//	attr.go     extended attributes of files in a mount
//	refused.go  reasons of refused calls
//	table.go    mount table of the kernel
package mounts
