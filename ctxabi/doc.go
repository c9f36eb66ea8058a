// Package ctxabi is the contract of ctxfs: the names, formats and rules that a
// program relies on when it reads and writes the mount. It does no I/O and
// imports nothing of ctxfs, so that every other package can agree on it.
//
// # Vocabulary
//
//   - A record is one line of messages.jsonl or events.jsonl: one JSON object,
//     at most [MaxRecord] bytes, addressed by its 1-based line number.
//   - A log is one of those two files. It only grows.
//   - A span is a range of records of one log, written "messages:12-18".
//   - A ref is the place of a session in the tree.
//   - A weight is a deterministic estimate of a record's tokens.
//
// Check functions decide what may enter a log. Decode functions read what is
// there: they never fail, because nothing that passed a check may break a
// later read. Check, Parse and Valid functions fail with [ErrMalformed], or as
// they say themselves. Errors are the sentinels of errors.go; only package fs
// turns them into errno values.
//
// # Files, from top to bottom
//
// Records:
//
//	payload.go  the images, sounds and files of a message, out of base64
//	outline.go  what an index keeps of a message
//	event.go    the events of tools in one form
//	entry.go    what an index keeps of a record
//	usage.go    what a provider says that a call took
//	said.go     what a person or a search reads of a record
//	ordered.go  a message as a list of parts, and what a provider wants back with them
//	decode.go   a message with its strings
//	weight.go   an estimate of tokens
//	items.go    records without a role: items of Responses
//	parts.go    the pieces of a message as they stand in the record
//	check.go    what may enter a log
//	record.go   the roles
//	json.go     JSON that is no record
//	scan.go     JSON, byte by byte
//
// Other files that a program reads or writes:
//
//	policy.go   a budget, and the policy of a session
//	plan.go     context/plan.json
//	notes.go    the rows of facts, decisions and the like
//	nodes.go    the rows of context/swap
//	journal.go  the journal of Delta Engine
//	diff.go     context/review.diff
//	env.go      context/env
//	trust.go    trust.jsonl
//
// Names and limits:
//
//	layout.go   the tree: names, paths, limits
//	span.go     ranges of records
//	ref.go      bytes of the history, and the names of content
//	project.go  what the sessions of a workspace share, and marks around quoted text
//	version.go  the versions of the program and of the store
//	errors.go   the kinds of failure
package ctxabi
