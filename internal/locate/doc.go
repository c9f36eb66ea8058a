// Package locate resolves the names that a user types: a session, the store that holds it, and the
// mount that shows it. Verbs, hooks, and the MCP server call it.
//
//	at, err := locate.Session(arg, store)       // a Place: a store and a session
//	dir, err := locate.SessionDir(arg, mnt, ok) // a directory in a mount, without a store
//
//	AGENT/SESSION, tree path, file path → Session (session.go) → Place
//	Place, if a daemon serves the store → MountedDir, MountedSession (served.go) → directory
//	any of them, seen from a mount      → SessionDir (mounted.go) → directory
//
// # Decisions
//
//   - accepted forms of SESSION: namedSession and Session in session.go, help text [SessionHelp]
//   - which store counts: Store in session.go. Order: --store, the mount in $CTXFS_MOUNT, the
//     user's setting, the default store; if that does not exist, the store of the only mount
//   - which mount counts: Mount in mounted.go. Order: --mount or $CTXFS_MOUNT, the user's setting,
//     the mount of the default store, the only mount of the user, the only mount of root
//   - the user's setting ~/.config/ctxfs/mount, and a choice between several mounts: meant.go
//   - the default store (/var/lib/ctxfs for root): DefaultStore in session.go
//   - whether a second store may be created next to an existing mount: CheckNewStore in meant.go
//
// Nothing in a mount is touched before its daemon answered (package daemon). A mount or setting
// that is skipped is named on standard error, once.
//
// An argument that names no session, or sessions of several stores, is a [usage.Error]; a silent
// mount is a [mounts.SilentError]; [Mount] returns a [NoMountError] if there is no mount.
package locate
