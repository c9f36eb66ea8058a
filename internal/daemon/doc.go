// Package daemon connects a running daemon with other ctxfs processes. Verbs use it to find the
// daemon of a store and to ask whether a mount answers; a daemon uses it for its info file, its
// log, and its watchdog.
//
//	verb → Running(store) (running.go) → holder of the lock (lockholder.go), info file (info.go)
//	verb → Ask, MountAround (ask.go)   → package mounts → answer, or SilentError after 5 seconds
//	daemon start → Info.Write          → WhenUnmounted, Watch → Info.End
//
// # Decisions
//
//   - whether a daemon serves a store: lockholder.go. The lock that the kernel reports is the
//     truth; the info file ctxfs.daemon is a hint and counts only while its process holds the lock
//   - how long a verb waits for the answer of a daemon: Asker in ask.go. A process must ask before
//     it touches a mount, because a mount with a silent daemon blocks every caller. No function
//     here touches one
//   - contents of the info file, and the reason why a daemon lost its mount: info.go
//   - waiting for the end of a daemon: WaitForExit in running.go
//   - the daemon's own mount is gone: unmounted.go; it does not answer: watchdog.go, which stops
//     the notifications to systemd
//   - destination (journal or file), size (4 MiB), and rotation of the log: log.go
//
// A daemon that does not answer is a [mounts.SilentError]; one that does not end in time is a
// [BusyError]. A store without a daemon is no error.
//
// # Files, from top to bottom
//
//	ask.go         asks the daemon of a mount
//	running.go     the daemon of a store, and its end
//	lockholder.go  process that holds the lock of a store
//	info.go        info file of a daemon in its store
//	unmounted.go   detects an unmount
//	watchdog.go    checks the daemon's own mount for systemd
//	log.go         log of a daemon
package daemon
