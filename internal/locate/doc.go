// Package locate finds what a user means: a session, the store that holds it, and the mount that shows it.
//
// A user names a session as AGENT/SESSION, as the tree does, or by a path in a mount or in a store ([SessionHelp]), and
// mostly names neither a store nor a mount. There are two ways to it:
//
//	at, err := locate.Session(arg, store)       // a Place: a store, and the session in it
//	dir, err := locate.SessionDir(arg, mnt, ok) // a directory of a mount, as an agent has it that sees no store
//
// and from the first to the second, where a daemon serves the store: [MountedDir], [MountedSession].
//
// Which mount or store counts where none is named is decided in one place each, [Mount] and [Store]. Nothing in a mount
// is touched before its daemon has answered: see package daemon. What is passed over is named on standard error, once.
//
// # Errors
//
// What is no session, or may mean several, is a [usage.Error]. A mount that is meant and does not answer is a
// [mounts.SilentError]; [Mount] returns a [NoMountError] where there is none.
package locate
