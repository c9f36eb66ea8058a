// Package ledger keeps a ledger of files: which ones the calls of a session created, changed,
// moved, and deleted, their content, and where that was seen. [State.Apply] takes the next record;
// [State.Lines] returns a line for each file. Package pack/journal shows the lines in the zone of
// files and runs.
//
//	call and result ─► run.follow: by tool                      tools.go
//	  file tool     ─► read, edit, move                         tools.go
//	  shell         ─► parse ─► statements ─► commands          shell.go, walk.go, call.go
//	effects on files, sure or unsure                            effects.go, names.go
//	State ─► lines within a limit                               lines.go
//
// # Where it is decided
//
//   - Which commands are followed: call.go (commands). One file for each group: coreutils.go,
//     copy.go, builtins.go, git.go. Other programs: programs.go.
//   - Whether a command ran and succeeded: outcome.go (tri, res), walk.go (&&, ||, pipes, loops),
//     redirect.go.
//   - Meaning of a word: words.go, match.go (patterns), vars.go, operands.go. Agents' own shells:
//     agent.go.
//   - When a file is unsure: effects.go (desk). Two paths of one file: names.go, store.go
//     (State.canonical).
//   - Whether presence and content are certain: store.go (State.Sure, State.SureText).
//   - Limits: state.go (MaxFiles, 64 KiB of a content, 2 MiB of all), script.go (128 KiB, nesting,
//     steps). Order of eviction: bound.go.
//   - Which files get lines and excerpts: lines.go.
//
// # Invariants
//
// A State is a value; Apply does not change its receiver. It states presence or content only if
// calls and results prove it; everything else is [Unsure], or a nil text. A part of a script that
// may have run leaves the files that it touches unsure. Two assumptions are made: a result shows
// the errors of its commands unless the script redirects them, and an unknown name with an
// extension is no directory.
//
// Scripts are parsed by mvdan.cc/sh/v3/syntax. Its interpreter is not used: it runs scripts on real
// files and knows no command that may or may not have run.
//
// # Files to read first
//
//	state.go    State and its limits
//	tools.go    calls of tools, the entry to the package
//	script.go   scripts
//	effects.go  effects on files
//	lines.go    lines that a pack shows
package ledger
