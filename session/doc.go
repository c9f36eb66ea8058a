// Package session is the durable store of ctxfs: a plain tree of files, locked
// by one daemon, that holds sessions. It knows logs, ids, control files and
// crash recovery; it knows nothing of FUSE, of errno and of prompts.
//
// # On disk
//
//	<store>/ctxfs.store                  JSON: format version, store id; flock'ed while a daemon serves it
//	<store>/home/<uid>/agent/<agent>/    the agent's home: ordinary files
//	  session/<session>/
//	    messages.jsonl events.jsonl      the records as they were written      (truth)
//	    state cwd meta.json context/...  control files, written by temp + rename
//	    .ctxfs/id                        128 bits in hex, for the session's life  (truth)
//	    .ctxfs/arrivals                  messages' commits, one JSON row each     (truth)
//	    .ctxfs/arrivals.events           events' commits                          (truth)
//	    .ctxfs/index  .ctxfs/index.events  one fixed-size row a record            (cache)
//	    .ctxfs/errors.jsonl              refusals and failures, bounded           (report)
//	    .ctxfs/quarantine/               bytes that were not a record when a log was opened
//	    .ctxfs/stage/                    large records on their way in            (temporary)
//
// An arrival row is written before the data it announces:
//
//	{"off":0,"len":211,"sha256":"<hex of the data>","chain":"<hex>","at":1760000000123456789,
//	 "uid":1000,"pid":77,"ev":0,"key":"<connection>-<request>"}
//
// chain(n) = SHA-256(chain(n-1) || sha256(n) || off || len), chain(-1) is the
// session id's bytes followed by the log's name. at is nanoseconds; ev is the committed length of events.jsonl
// at that moment (rows of messages only), which gives the two logs one order.
// A row made up at recovery for data without one carries "estimated":true.
//
// # Promises
//
//   - A returned Append of whole records survives the death of the process at
//     any moment; a returned Sync survives the loss of power.
//   - A record is in the log whole or not at all. After a short or failed
//     write the log is cut back to its last whole record before anybody can
//     read further; when even that fails the log answers ErrIO until it is
//     opened anew.
//   - A failed Sync is never retried: every later Append and Sync of that log
//     gives ErrIO until the store is opened again and has re-read the tail.
//   - Readers see exactly [0, Len) and Len only grows.
//   - Opening costs what is new: the last arrival and what follows it.
//
// # Locks
//
// Store.mu (the table of open sessions) before Session.mu before Log.mu. No
// lock is held across Committer.Commit: appends of one log queue for a turn.
package session
