// Package fs serves the FUSE tree of ctxfs: [Mount] gets a store, a pack builder, and a mountpoint,
// and returns a [Server] that answers the kernel. Handlers parse a request, call package session,
// search, or pack/builder, and map the error. Only this package knows go-fuse and errno.
//
// # A write to messages.jsonl
//
//	kernel WRITE             at most 1 MiB (mount.go); DIRECT_IO, so no page cache (log_node.go)
//	→ rawFS.Write            records request number and open flags, which go-fuse drops (raw.go)
//	→ logHandle.Write        detects split and repeated write(2) calls (log_handle.go)
//	→ session/log Stage      collects bytes into whole records, checks each (stage.go)
//	→ session/log commit     waits for the turn of the log (commit.go)
//	→ session/log place      writes the arrival row to .ctxfs/arrivals, then the records to
//	                         messages.jsonl of the store; a failure cuts both back (order.go)
//	                         publishes the length, so that readers see the records
//
// A committed record survives the death of the daemon. It survives power loss after fsync
// (logHandle.Fsync) or [Server.Shutdown] (syncAll). Close commits a complete record without its
// newline and refuses an incomplete one, which Release drops (logHandle.Flush, Release).
//
// # A read of pack.md
//
//	LOOKUP → entryOf (entries.go) → lookupBuilt (generation.go) → builder.Current → inode
//	OPEN   → builtFile.open → bytes of the build, from the shelf (generation.go)
//
// Each build has its own inode; the content of an inode never changes. If generators still run, the
// lookup returns a placeholder, and open and stat wait instead (awaited.go).
//
// # Decisions
//
//   - Names, kinds, modes, and listing of a session's files: one row each in the table entries
//     (entries.go). A new file is a new row. The kinds are history, control, built, derivedName,
//     protected, and ordinary; a name without a row is an ordinary file of the store.
//   - Refused changes: Setattr of log_node.go, nameKind.refuse (entries.go), refused (view.go),
//     denyDir (fixed_dir.go); renames: rename (rename.go). The reason goes to context/errors.jsonl
//     (mountedSession.refuse), the errno comes from errnoTable (errno.go).
//   - When a control file changes: each handle has a copy, which Flush, Fsync, or Release commits
//     as a whole (control_handle.go); checks at each write: judge (mounted_session.go); derived
//     notes and removed files: note.go.
//   - Modes and owners: attr.go, home.go (realm). Actions that attributes of a session request:
//     verbs.go (fork, archive, remove, gc); all but fork only by the owner. Changes of gc.policy
//     that only the owner may make: checkHistory (mounted_session.go).
//   - Cache times in the kernel: tree.go; builds kept in memory: shelf (generation.go); search
//     answers kept: answers.go. Signals during a wait: patient (caller.go).
//   - Options of the mount (allow_other, ro, noexec): mount.go. Attributes user.ctx.*: xattr.go
//     (facts). Files that count as open for the collector: open_files.go.
//   - Inode and node numbers: ids.go; revival after a restart: LookupNode (root.go).
//   - Paths of the store and planted links: beneath.go.
//   - Directories: root.go (root, status), home.go and agent.go (homes, sessions), project_dir.go,
//     trust_node.go, session_dir.go; at_dir.go, line_dir.go, served_dir.go, summaries_dir.go,
//     search_dir.go, and child_dir.go (context/*); nodes.go, content_node.go, and blob_dir.go (swap, dedup).
//
// The verbs mount and umount, the daemon, and mount.fuse.ctxfs are in fs/cli.
//
// # Files to read first
//
//	mount.go           Mount, its options, Shutdown
//	entries.go         table of names, lookup
//	log_handle.go      appends to messages.jsonl and events.jsonl
//	control_handle.go  edits of settings, pins, and notes
//	generation.go      files of a pack, cached builds
//
// # Rights
//
// The kernel checks modes and owners (default_permissions) before a request arrives. The kernel
// shares its caches between all callers, so no answer depends on the caller. There are two
// exceptions: a process that a generator started does not wait for the pack that the generator is
// part of (builder.WithCaller), and a process that removed a derived file finds it missing once
// (note.go).
//
// # Locks, in this order
//
//  1. tree.moves: raw.Rename holds it for reading. waitForRenames takes it for writing and releases
//     it at once; the caller may hold the mu of a handle then, but none of the locks below. A
//     rename never calls it.
//  2. mu of a handle (controlHandle, logHandle, trustHandle, packsHandle)
//  3. tree.policies, tree.recent
//  4. mountedSession.mu, for map lookups only
//  5. leaves: tree.mu, generation.mu, the mu of shelf, answers, numbers, openFiles, and of the
//     shards of rawFS
//  6. locks of package session and of the builder, taken under 2 and 3, not under 4
//
// # Invariants
//
//   - The daemon never opens, lists, or watches its own mount.
//   - Names that change without a request of the kernel have no timeout, and inodes with long
//     cached attributes never change. Therefore only the removal of a session invalidates a name.
//   - A row of the table never changes. A node number follows from the session id and the row's
//     path, so that the next daemon finds the node.
//   - A node holds little, because the kernel decides its lifetime. Bytes are in the shelf, in the
//     answers, or in the store.
package fs
