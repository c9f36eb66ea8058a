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
package ctxabi
