// Package project renders the memory of a workspace: what all sessions of it have pinned, left open, decided and
// stated, and their last answer. It reads no file: a [Digest] is what one session brings, [Digests] put many of
// them together.
//
// # Promises
//
//   - What two sessions say in the same words stands once, from the newer one.
//   - Each entry ends with its source: the session, and the record or the file of it. All lines of an entry but its
//     first begin with two blanks, so that nothing in it looks like a heading.
//   - The text has at most as many bytes as it is given. What does not fit is the oldest of each section, and a line
//     says how much that is.
//
// # Files, from top to bottom
//
//	memory.go  Digests: many sessions
//	digest.go  Digest: one session
package project
