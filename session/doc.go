// Package session is the durable store of ctxfs: a plain tree of files, locked by one daemon, that holds sessions.
// It knows stores, ids, control files, children, forks and what is derived of a session; it knows nothing of FUSE,
// of errno and of prompts.
//
//	s, err := session.Open(dir, session.Options{})
//	x, err := s.Create(ref, owner)
//	_, err = x.Messages().Append(ctx, session.Batch{Data: record, Writer: writer})
//
// Below it lie package log (the append-only logs), archive (what is sealed of them), blob (what is kept under its
// hash), disk (the directories of stores and sessions) and vfs (the disk itself); above it package check (verify
// and fsck). The names of these that callers use stand here, too (names.go).
//
// # On disk
//
//	<store>/ctxfs.store                  JSON {"version","id"}; flock'ed, as tmp/ is, while a daemon serves it
//	<store>/tmp/                         what is being built, and large records on their way in; cleared at open
//	<store>/cluster/                     what a host of a cluster has read of the journals of owners       (cache)
//	<store>/cluster/host.json            makes the store one of a host of a cluster; which one                       (truth)
//	<store>/home/<uid>/trust.jsonl       which files the user lets ctxfs act on as him
//	<store>/home/<uid>/project/<slug>/   what people write beside the memory of a workspace: ordinary files
//	<store>/home/<uid>/agent/<agent>/    the agent's home: ordinary files
//	  session/<session>/
//	    messages.jsonl events.jsonl      the records as they were written         (truth)
//	    messages.jsonl.<n>.zst ...       those that were sealed, which come first (truth; archive/format.go)
//	    .ctxfs/segments segments.events  lists of these                           (derived; archive/list.go)
//	    state cwd meta.json context/...  control files, written by temp + rename
//	    context/child/<name>/            what was written of a child, and its artifact/ (child.go)
//	    .ctxfs/id                        128 bits in hex, for the session's life  (truth)
//	    .ctxfs/arrivals                  messages' commits, one row each          (truth)
//	    .ctxfs/arrivals.events           events' commits                          (truth)
//	    .ctxfs/index  .ctxfs/tokens      one fixed-size row a record; exact counts (cache)
//	    .ctxfs/index.events              the same for events                      (cache)
//	    .ctxfs/parts/                    of sealed parts that lie elsewhere: where, and what was read (archive.Source)
//	    .ctxfs/renew/                    files that take the place of others, all of them (renew.go)
//	    .ctxfs/errors.jsonl              refusals and failures, bounded           (report)
//	    .ctxfs/recipe.json .ctxfs/epoch.json  last good recipe; how the last epoch began (derived)
//	    .ctxfs/summaries                 what a recipe's summarizer gave              (kept)
//	    .ctxfs/project                   what packs show of the workspace's memory    (kept)
//	    .ctxfs/cwd.foreign               a cwd that a process of a container wrote (project.go);
//	    .ctxfs/project.foreign           likewise context/project
//	    .ctxfs/swap .ctxfs/dedup         what left prompts; what repeats              (derived)
//	    .ctxfs/blobs/                    what users stored under its hash             (truth)
//	    .ctxfs/outputs/                  what generators gave last, one file a source (derived)
//	    .ctxfs/served/                   packs that were read: rows, and segments of what they held (package blob)
//	    .ctxfs/quarantine/               bytes that were not a record when a log was opened
//	<store>/shared/<space>/agent/...     the same, owned by a group
//
// An arrival row is written before the data it announces. Its bytes are the matter of package arrival; as JSON it
// is
//
//	{"off":0,"len":211,"sha256":"<hex of the data>","chain":"<hex>","at":1760000000123456789,
//	 "uid":1000,"pid":77,"ev":0,"key":"<connection>-<request>"}
//
// chain(n) = SHA-256(chain(n-1) || sha256(n) || off || len), numbers as 8 bytes big endian; chain(-1) is the
// SHA-256 of the session id's 16 bytes followed by the log's name. at is nanoseconds; ev is the committed length
// of events.jsonl at that moment (rows of messages only), which gives the two logs one order. A row made up at
// recovery for data without one carries "estimated":true. The forms of index and tokens stand in
// log/index_file.go.
//
// # Promises
//
//   - A returned Append of whole records survives the death of the process at
//     any moment; a returned Sync survives the loss of power.
//   - A record is in the log whole or not at all. After a short or failed
//     write both files are cut back to where they ended; when even that fails
//     the log answers ErrIO until the store is opened anew.
//   - A failed Sync is never retried: every later Append and Sync of that log
//     returns ErrIO until the store is opened again and has re-read the tail.
//     If the disk is full, both return ErrNoSpace or ErrQuota instead, and the next Append or Sync
//     reads the tail again.
//   - Readers see exactly [0, Len) and Len only grows.
//   - A request whose Key was committed among the last 1024 of its log is not
//     committed again, after a restart either.
//   - Opening costs what is new: the last arrival and what follows it. Nothing
//     that is found there is destroyed and nothing blocks the session.
//   - One order: a [Timeline] begins with every earlier one of its session. Only
//     when power is lost, and with it the end of one log, can a later event come
//     to stand in front of messages that were there before it.
//   - Sealing changes nothing but where bytes lie; raw records go once the sealed ones were read back and are on the disk.
//   - Caches follow from the truth: an index that was loaded, extended or built
//     from nothing is the same, value for value.
//
// # Errors
//
// Errors are of these kinds, most of them an [ctxabi.Error] with a sentence for a person:
//
//   - ErrMalformed, ErrTooLarge: the bytes were judged, and nothing of them was taken
//   - ErrNotFound, ErrExists: of a session, a child, a blob; whatever reads or writes a session that was removed gives ErrNotFound
//   - ErrReadOnly: the store was opened with Options.ReadOnly
//   - ErrNoSpace, ErrQuota: nothing of it was taken; the same can be tried again
//   - ErrIO: the disk failed, or what it holds is not what was written (see [IsDamage])
//
// A caller whose context ends while it waits gets the error of his context.
//
// # A handle's bytes
//
// A [Stage] belongs to one open handle. Each Write is one request:
//
//   - All lines that it completes are checked and committed as one batch; what
//     follows the last newline is staged, up to ctxabi.MaxRecord bytes.
//   - When a line is refused, the valid ones before it are committed, the stage
//     is emptied and the rest of the request is not taken: Write gives the bytes
//     up to the refused line, and the error. If that line began in an earlier
//     request, that beginning is gone; its remainder, if the writer sends it,
//     is judged as a line of its own.
//   - A batch is committed whole or not at all. When the disk is full or fails,
//     or a quota is reached, the earlier stage stays, nothing of the request
//     (or nothing behind the committed lines) is taken, and the writer can send
//     the same bytes again.
//   - Flush commits a complete record that lacks its newline and adds one; the
//     blanks and the one newline that the handle sends next are taken and
//     dropped. A record that is not complete stays and Flush gives ErrMalformed.
//   - A write that gives up waiting because its context ended took nothing and
//     gives the context's error.
//
// Every refusal is reported in errors.jsonl, at most one row a second for each user after a burst of 20; what
// comes faster is folded into a row with a count.
//
// # Commit points
//
// Records come to be true by a [Committer], and what is true beside them (control files, notes, children, the
// names of sessions) by a [ChangeCommitter]. [Local] is both: what it commits is what the store's own files hold.
// A committer that orders elsewhere has all applied here by [Log.Apply], [Session.Apply] and [Store.ApplyName]; a
// store to which the same is applied in the same order holds the same.
//
// # Locks
//
// No lock of a log is held across Committer.Commit: appends of one log wait in line for its turn, a channel, and
// may give up. The order of locks is: Session.notes, Store.create, Root.Move, Root.Moving, Store.mu; Store.header,
// children.mu and Session.mu are taken last and hold none of the others. The locks of logs and blobs, stand in
// their packages: they come before Store.create. Removing a session holds the turns of both its logs, so that
// nothing is appended between the last look and the end.
//
// # Files, from top to bottom
//
//	store.go          a store that is open
//	trust.go          what a user trusts
//	project.go        the workspace of a session, and what its user wrote of it
//	collect.go        what a collector of garbage asks for
//	fork.go           a session with the history of another
//	child_fork.go     children of a fork
//	renew.go          a session brought up to date at once
//	apply.go          commits of another store, applied here
//	remove.go         sessions and agents removed
//	create.go         sessions and agents made
//	child_dir.go      directories of children
//	child_links.go    sessions that children name
//	child.go          children
//	notes.go          notes that are derived until they are written
//	owned.go          derived content of an owner, and what a watcher learns
//	derived_file.go   derived content in pieces
//	kept.go           derived content that packs of all hosts show
//	derived_lines.go  derived content in lines
//	derived.go        derived content
//	head.go           what stands for a history
//	ref.go            content that a reference means
//	journal.go        context/journal.jsonl
//	session.go        one session
//	shared_blobs.go   blobs that other hosts have, too
//	tree.go           homes, spaces and agents
//	header.go         the header of a store
//	control.go        control files
//	history.go        changes that have numbers
//	commit.go         changes, and who commits them
//	names.go          names of this package for what the packages below have
package session
