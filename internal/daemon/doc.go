// Package daemon is how one ctxfs knows another: the daemon that serves a store, as other processes see it, and what
// such a daemon does for them.
//
// [Running] finds the daemon of a store by the lock that it holds, which the kernel knows ([LockHolder]), and by the
// note that it left in the store ([Info]). The lock is the truth; the note is a hint, and counts only while the process
// that it names holds the lock.
//
// [Ask] asks the daemon of a mount whether it answers. A mount whose daemon does not answer hangs whoever touches it, so
// nobody touches one before: [MountAround] and [AnsweringMount] find a mount and ask. None of these touches a mount itself.
//
// A daemon calls [Info.Write] when it has the store, [WhenUnmounted] and [Watch] once it serves its mount, and logs to a [Log].
//
// # Errors
//
// A daemon that does not answer is a [mounts.SilentError], one that does not end a [BusyError]. A store without a daemon
// is no error.
//
// # Files, from top to bottom
//
//	ask.go         whether the daemon of a mount answers
//	running.go     the daemon of a store, and its end
//	lockholder.go  who has a store locked
//	info.go        what a daemon noted in its store
//	unmounted.go   when a mount is gone
//	watchdog.go    whether the own mount answers
//	log.go         the log of a daemon
package daemon
