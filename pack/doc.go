// Package pack compiles a session into a prompt.
//
// A pack is a pure function of the history's prefix, the files of the agent
// and the session that the recipe names, the workspace files that were read,
// the budget, the encoding and [RendererVersion]. Compile is that function;
// Builder gathers its inputs, remembers the last build of each session and
// gives the same *Build as long as nothing changed.
//
// # Order
//
//	STABLE   system_prompt
//	SESSION  pinned, guides (AGENTS.md, DELTA.md), summary, facts, decisions, refs
//	JOURNAL  leading system records, first user record, the last user request
//	         behind the boundary, a note of what is left out; then everything
//	         from the boundary on
//	DYNAMIC  todo and the current goal: the footer
//
// # Promises
//
//   - Budget: the exact number of tokens of pack.md is at most budget − reserve.
//   - Prefix: while epoch is the same, the first PrefixBytes bytes of a pack
//     begin the pack of the same files with one record more.
//   - Accounting: every record of messages.jsonl stands in exactly one item or
//     omission; pins and the system prompt stand verbatim.
//   - Determinism: the same inputs give the same bytes, in this process or the
//     next; an incremental build equals one from scratch.
//   - Nothing that is left out is without a path that gives it back.
package pack
