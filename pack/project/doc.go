// Package project renders the memory of a workspace: pins, open items, decisions, facts, and the
// last answer of its sessions. The caller, pack/builder/project.go, fills one [Digest] for each
// session and adds them to [Digests]; Memory returns Markdown of a maximum size. The package reads
// no files.
//
// # Where it is decided
//
//   - Order of the sections and the share of each: memory.go (sections). Largest memory: memory.go
//     (MaxMemory).
//   - Which of two equal entries stays, and which items are done: memory.go (Digests.Add,
//     section.entries). Which entries a newer session changed: memory.go (Digests.change) by the
//     rules of compress/notes.
//   - How much one session contributes: digest.go (maxEntries, maxText, maxPin).
//   - When stored digests are of no use: digest.go (Version).
//   - Which sessions belong to a workspace: session/project.go (Store.Workspace) and
//     pack/builder/project.go.
//
// # Invariants
//
//   - Equal words occur once in a section, from the newer session.
//   - Each entry ends with its source: session and record or file. Its further lines begin with two
//     blanks, so that none looks like a heading.
//   - The text has at most the given number of bytes. The oldest entries of a section are omitted
//     first, and a line counts them.
//
// # Files, from top to bottom
//
//	memory.go  Digests: memory of many sessions
//	digest.go  Digest: one session
package project
