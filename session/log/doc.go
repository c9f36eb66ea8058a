// Package log is the append-only log of a session: messages.jsonl or events.jsonl, with the rows of
// its commits, its index and its end, which it recovers.
//
//	s := log.NewStage(writer)      // of one open handle
//	n, err := s.Write(ctx, p, 0, true, key)
//	ix, err := log.Index()         // a snapshot of the records
//	t, err := messages.Timeline()  // both logs in one order
//
// A write goes through these steps: a [Stage] gathers bytes to whole records and checks them; the
// log's turn is waited for; the [Committer] decides where the batch comes to stand; its arrival row
// and its data are written ([Log.Apply]); [Log.Advance] publishes the new length, which readers go
// by.
//
// # On disk
//
//	messages.jsonl .ctxfs/arrivals .ctxfs/index .ctxfs/tokens                    of messages
//	events.jsonl .ctxfs/arrivals.events .ctxfs/index.events .ctxfs/tokens.events of events
//
// An arrival row (package arrival) is written before the data it announces. The forms of index and
// counts stand in index_file.go; both are caches. What is sealed of a log is the matter of package
// archive.
//
// # Order and application
//
// Which commit comes next is decided by a [Committer], and by nobody else. [Local] decides that
// what holds the turn stands behind the log's end, and writes it there. A committer that orders
// records elsewhere has them applied through [Replica]: the same rows and bytes in the same order
// make the same log, value for value. Rows of messages note how long the log of events was; a
// committer that implements [SharedTurn] gets one turn for both logs, so that it can order them
// together; a [Gatherer] is asked without it and can take many batches at once. Where the store is a
// copy of what is elsewhere ([Copies]), nothing is adopted when a log is opened that was not applied.
//
// # Promises
//
//   - A returned Append of whole records survives the death of the process, a returned Sync the loss of power.
//   - A record is in the log whole or not at all. After a short or failed write both files are cut back to where they
//     ended; when even that fails, or a Sync fails, the log returns ctxabi.ErrIO until the store is opened anew.
//     If the disk is full, the log returns ctxabi.ErrNoSpace or ctxabi.ErrQuota until it has space.
//   - Readers see exactly [0, Len), and Len only grows.
//   - A request whose [Key] was committed among the last [MaxKeys] of its log is not committed again, after a restart
//     either.
//   - Opening costs the last arrivals and what follows them, and once the rows of an older version. Nothing that is
//     found there is destroyed.
//   - An index that was loaded, extended or built from nothing is the same, value for value. A snapshot never changes.
//   - A [Timeline] begins with every earlier one of its session.
//
// # Locks
//
// No lock is held across Committer.Commit: appends wait in line for the log's turn, a channel, and
// may give up. A seal holds sealing, and the turn while files are swapped. [Hold] takes turns in
// the order messages, events.
//
// The order of locks is: logIndex.mu of messages, that of events, Log.mu of messages, that of
// events, Root.Move, Root.Moving; Set.mu is taken last and holds none of the others. Stage.mu comes
// before all of them. The janitor of a [Set], which closes logs that are not used, only tries the
// locks of a log.
//
// # Files, from top to bottom
//
//	recover.go         what opening a log finds and mends
//	convert.go         rows of an older version anew
//	seal.go            records into a sealed part
//	seal_check.go      its bytes against the rows
//	audit.go           a log as a whole
//	copy.go            a log for a fork
//	prefix.go          an index as it was
//	timeline.go        both logs in one order
//	order.go           who orders commits, and a log as a replica
//	stage.go           what a handle has written
//	commit.go          a batch into the log
//	memlog.go          a log in memory
//	broken.go          failed logs, and reopening a log after its disk was full
//	index_load.go      what is read of an index, and when
//	index_build.go     the index from records
//	index_calls.go     which call a result answers
//	index_tokens.go    counts of tokens
//	index_file.go      the index on the disk
//	index.go           the index in memory
//	set.go             open logs of a store
//	parts.go           tail and sealed parts, and bytes that nothing copies
//	log.go             one log
//	committer.go       the one commit point, and how soon syncs follow it
//	keys.go            requests that came before
//	index_scan.go      what the index needs of a record
//	index_arrivals.go  rows beside records
//	arrivals.go        rows: when and from whom records came, and their chain
//	index_row_file.go  rows of the index, in its file
//	index_rows.go      rows of the index, in memory
package log
