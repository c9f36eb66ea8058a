// Package fs is the FUSE tree of ctxfs. Its handlers are thin: they parse, check, call into package
// session or pack, and map the error. It alone knows go-fuse and errno.
//
// # Names
//
// The table entries (entries.go) has a row for each name of a session, and for each pattern of
// names: what kind it is, its mode, whether a directory always lists it, how its node is made. A
// look-up, a listing, the revival of a node by its number and the refusal of a change all read that
// row. To add a file to the tree is to add a row. What the kind of a row means:
//
//   - history is a log, messages.jsonl or events.jsonl. Each handle has a session.Stage; reads end
//     where the log ends. Handles are DIRECT_IO, because the page cache would show a reader NULs.
//   - control is a file whose content has rules: settings, pins, what the agent writes about its
//     history. Each handle has a copy, which is checked and committed as a whole when it is flushed.
//     What can be judged earlier is refused at the write.
//   - built is a rendering of a pack. It has one inode per build, which never changes. Below
//     context/at it is of an earlier moment.
//   - derivedName is made for whoever looks at it.
//   - protected is a directory of the session, or a name that nothing may take.
//   - ordinary is all else: the scratch files of editors beside a session's files, and what an agent
//     has in its home. Such a file lies in the store as it is, and has no row.
//
// Every file that nobody may write is a view, which differs from others in its source; every
// directory that is not on the disk is a fixedDir, which differs in its finder and its lister.
//
// # Files, from top to bottom
//
// A function calls into files further down, with few exceptions.
//
//	mount.go            Mount, Server, Shutdown, Unmount
//	volumes.go          directories for those who ask the daemon and not the mount
//	root.go             the root, its status file, revival by number
//	home.go agent.go    homes, shared spaces, agents, sessions/
//	project_dir.go      home/<uid>/project
//	trust_node.go       home/<uid>/trust.jsonl
//	session_dir.go      a session, context/, context/pinned/, a child
//	verbs.go            what attributes of a session ask for: fork, archive, remove, collect
//	rename.go           the rules of renames
//	child_dir.go        context/child
//	entries.go          the table of names
//	at_dir.go line_dir.go served_dir.go search_dir.go blob_dir.go
//	                    the directories that have a name for each question
//	answers.go          the last answers of searches
//	content_node.go     contents under their hashes
//	nodes.go            the trees of swap and dedup
//	awaited.go          built files whose generators still run
//	generation.go       built files; the last builds
//	control_node.go control_handle.go log_node.go log_handle.go
//	                    control files and logs
//	expect.go           numbers of changes, and what programs expect of them
//	fixed_dir.go        directories that are not on the disk; what they refuse
//	derived.go          the texts of small derived files
//	note.go             notes: control files that ctxfs derives until the agent writes them
//	mounted_session.go  what the nodes of one session share
//	journal_file.go     context/journal.jsonl
//	view.go             files that nobody may write
//	cluster.go          what is looked at before names and sessions of a cluster are shown
//	raw.go              what go-fuse's tree drops of a request; numbers
//	plain_dir.go plain_list.go plain_node.go
//	                    ordinary files and directories
//	shared_dir.go shared_handle.go shared.go
//	                    those that hosts of a cluster share
//	open_files.go       which files are open; descriptors
//	xattr.go            attributes
//	attr.go ids.go      modes, times, inode numbers
//	caller.go           who asks, and for how long
//	beneath.go          paths of the store
//	errno.go            errors to errno values
//	tree.go             what all nodes of one mount share
//
// # Rights
//
// The kernel checks modes and owners (default_permissions) before a request comes here, so every
// attribute shown is one that counts. No answer depends on who asks, because all share the kernel's
// caches, with two exceptions: a process that a generator started does not wait for the pack that
// the generator is part of (builder.WithCaller), and a process that has removed a file which comes back
// finds it gone once (note.go). No look-up of a pack waits for generators (awaited.go), so that the
// kernel does not hold up such a process either. Paths of the store are opened as beneath.go
// describes, because the names in a home are in its owner's hands and the daemon may be root.
//
// # Locks
//
// Locks are taken in this order; a request may skip some:
//
//  1. tree.moves: raw.Rename holds it for reading around the whole rename. Who finds a file gone
//     from where the tree has it takes it for writing and releases it at once. A rename never does
//     that. A handle's mu may be held then, which no rename takes, but none of the locks below it.
//  2. the mu of a handle (controlHandle, logHandle, trustHandle, packsHandle) or of a sharedFile, under
//     which Files commits, as it does under 1
//  3. tree.policies, tree.recent
//  4. mountedSession.mu, which is held for lookups in maps and nothing else
//  5. tree.mu, generation.mu, the mu of shelf, answers, numbers, openFiles, sharedOpen and of a shard of rawFS:
//     leaves, under which no other lock of this package is taken
//  6. the locks of package session and of the builder, which are taken under 2 and 3 and not under 4
//
// # Invariants
//
//   - The daemon never opens, lists or watches its own mount.
//   - Nothing is invalidated from here, but for the name of a session that is removed: names of what
//     changes without the kernel's doing have no timeout, and inodes whose attributes the kernel
//     may cache for long never change.
//   - A row of the table is never changed, and a node number follows from the session's id and the
//     row's path alone, so that the next daemon finds it again.
//   - A node holds little, because the kernel decides how long it lives: bytes are in the shelf, in
//     the answers or in the store.
package fs
