// Package fs is the FUSE tree of ctxfs. Its handlers are thin: they parse,
// check, call into package session or pack, and map the error. It alone knows
// go-fuse and errno.
//
// # Kinds of file
//
//   - A log (log_node.go, log_handle.go) is messages.jsonl or events.jsonl. Each
//     handle has a session.Stage; reads end where the log ends. DIRECT_IO always.
//   - A control file (control_node.go, control_handle.go) has rules for its
//     content: settings, pins, what the agent writes about its history. Each
//     handle has a copy, checked and committed as a whole when it is flushed;
//     what can be judged earlier is refused at the write.
//   - The trust file (trust_node.go) is a user's own, home/<uid>/trust.jsonl: a copy
//     a handle, too, checked as a whole when it is closed.
//   - A built file (generation.go) is pack.md or another rendering of a pack: one
//     inode per build, which never changes. Below context/at (at_dir.go) it is of an earlier moment.
//   - A served file (served_dir.go) is the pack.md of a pack that was read; packs.jsonl lists them.
//   - A line (line_dir.go) is one record under its number.
//   - The journal (journal_file.go) is made of messages.jsonl as it is read, a piece at a time.
//   - A derived file (derived.go) is small and made anew for whoever looks.
//   - A plain file (plain_*.go) is all else: the agent's home, and the scratch
//     files of editors beside a session's files. It lies in the store as it is.
//
// rename.go says what may be renamed over what. deny.go refuses everything
// that a directory does not allow. ids.go gives inode numbers, errno.go errnos.
//
// # Rights
//
// The kernel checks modes and owners (default_permissions) before a request
// comes here, so every attribute shown is one that counts. No answer depends on
// who asks, as the kernel's caches are shared by all, but for one: a process that a
// generator started does not wait for the pack that it is part of (pack.WithCaller). So that the kernel does not
// hold it up either, no look-up of a pack waits for generators (awaited.go). Paths of the store are
// opened as beneath.go tells, because the names in a home are in its owner's
// hands and the daemon may be root.
//
// # Locks
//
// A handle's mu before its node's mu. tree.moves is held for reading by
// raw.Rename around everything, and taken for writing by those who look for a
// file that is not where the tree has it; a rename never takes it for writing.
// The session's and the builder's own locks come after all of these. The
// daemon never opens, lists or watches its own mount.
//
// Nothing is ever invalidated from here: names of what changes without the
// kernel's doing have no timeout, and inodes whose attributes are kept for long
// never change.
package fs
