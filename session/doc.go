// Package session is the durable store of ctxfs: a tree of plain files, locked by one daemon, that
// holds the sessions of users and shared spaces. Package fs, the search index, the pack builder,
// and the collector use it. It does not know FUSE, errno, or prompts.
//
//	s, err := session.Open(dir, session.Options{})
//	x, err := s.Create(ref, owner)
//	_, err = x.Messages().Append(ctx, log.Batch{Data: record, Writer: writer})
//
//	records       → Log (package log)       → messages.jsonl, events.jsonl
//	sealed parts  → package archive         → messages.jsonl.<n>.zst
//	control files → SetControl (control.go) → check → temporary file, rename
//	names         → Create, Rename, Remove  → built in tmp/, renamed
//	derived data  → SetDerived (derived.go) → .ctxfs/, with a checksum, not synced
//	blobs, packs that were read → package blob;  files and owners → package disk, internal/vfs
//
// Sub-packages: log (append-only logs), arrival (rows of commits), archive (sealed records), blob
// (content by hash), disk (directories and owners), check (verify and fsck), sessiontest (a disk in
// memory, for tests).
// cli has the verbs session, space, head, and arrivals.
//
// # On disk
//
// In parentheses: truth cannot be rebuilt, a cache can, kept content cannot be rebuilt, but holds
// no record.
//
//	<store>/ctxfs.store                JSON {"version","id"}; a daemon locks it, and tmp/
//	<store>/tmp/                       unfinished files; cleared at open
//	<store>/home/<uid>/trust.jsonl     files that ctxfs may act on as this user
//	<store>/home/<uid>/project/<slug>/ notes of people on a workspace: ordinary files
//	<store>/home/<uid>/agent/<agent>/  home of an agent: ordinary files
//	  session/<session>/
//	    messages.jsonl events.jsonl    records as they were written (truth)
//	    messages.jsonl.<n>.zst ...     sealed records, which come first (truth; archive/format.go)
//	    state cwd meta.json context/   control files
//	    context/child/<name>/          files of a child, and its artifact/ (child.go)
//	    .ctxfs/id                      128 bits in hex, for life (truth)
//	    .ctxfs/arrivals                commits of messages, a row each (truth; arrival/row.go)
//	    .ctxfs/arrivals.events         commits of events (truth)
//	    .ctxfs/segments                list of sealed parts; segments.events (archive/list.go)
//	    .ctxfs/index .ctxfs/tokens     row and token count of a record (cache; log/index_file.go)
//	    .ctxfs/index.events            the same for events (cache)
//	    .ctxfs/errors.jsonl            refusals and failures, bounded (disk/report.go)
//	    .ctxfs/recipe.json epoch.json  last valid recipe; start of the last epoch (derived)
//	    .ctxfs/versions                what was written to summary.md (kept; summaries.go)
//	    .ctxfs/versions.seen           events that deliver a summary (cache)
//	    .ctxfs/asked                   requests for a summary that were shown (derived)
//	    .ctxfs/project                 workspace memory that packs show (kept)
//	    .ctxfs/*.foreign               paths in cwd or project from a container (project.go)
//	    .ctxfs/swap .ctxfs/dedup       content that left prompts; repeated content (derived)
//	    .ctxfs/blobs/                  content that users stored by hash (truth; blob/blob.go)
//	    .ctxfs/outputs/                last output of each generator (derived)
//	    .ctxfs/served/                 packs that were read (kept; blob/served.go)
//	    .ctxfs/quarantine/             bytes that were not a record (disk/aside.go)
//	<store>/shared/<space>/agent/...   the same tree, owned by a group
//
// # Decisions
//
//   - opening a store: lock, format version, cleanup of tmp/: store.go; upgrade of the header:
//     header.go
//   - users of a store that root serves reach it only through the mount: keepUsersOut in store.go
//   - valid content of each control file: CheckControl in control.go
//   - files and defaults of a new session: newSession and defaultPolicy in create.go
//   - files that a fork takes along: fork.go, children in child_fork.go
//   - rename, listing, and owners of sessions: tree.go; removal: remove.go
//   - status and result of a child: child.go; links after a rename or removal: child_links.go
//   - notes are derived until the agent writes them: notes.go
//   - versions of the summary, which of them is in use, and the range of one that names none:
//     summaries.go
//   - requests for a summary that were shown, and agents that can answer them: asked.go
//   - workspace of a session, and paths that containers write: project.go
//   - checksum of derived content: derived.go
//   - deletion for the collector, which decides: collect.go; text of latest.md: Latest in
//     session.go
//
// # Promises
//
//   - A returned Append survives the death of the process, a returned Sync a power loss. A new
//     session, a fork, and a control file exist whole or not at all.
//   - After a failed Sync, a log returns ErrIO until the store is opened again. If the disk is
//     full, it returns ErrNoSpace or ErrQuota, and the same call can be repeated.
//   - Recovery and repair destroy nothing; caches can always be rebuilt from the truth.
//   - The timeline of a session only grows. After a power loss that removes the end of one log, a
//     later event may get a place before existing messages.
//
// Errors are an [ctxabi.Error] in most cases: ErrMalformed and ErrTooLarge for refused bytes,
// ErrNotFound also for a removed session, ErrIO for a failed disk or damage ([IsDamage]).
//
// # Locks
//
// Lock order: Session.notes, Session.versionsMu, and Session.askedMu before the locks of logs that
// readers take; locks of logs and blobs, Session.notes, Store.create, Root.Move, Root.Moving,
// Store.mu. Store.header, children.mu, and Session.mu are taken last. Removal holds the turns of
// both logs.
//
// # Files to read first
//
//	store.go    Store: open, lock, close
//	session.go  Session: its logs and derived values
//	control.go  control files and their rules
//	create.go   how a session comes into existence
//	notes.go    files that ctxfs derives until the agent writes them
package session
