// Package section derives parts of a prompt from compacted records without a model. A section is a
// fold over the history: the same records give the same section.
//
//	record ─► read ─► State.apply: every section of the table                   state.go
//	States.At ─► continues the longest known prefix by the new records         states.go
//	State.Messages, Conclusions, Lines, States.Notes ─► package journal         one file each
//	States.Save, Restore ─► prefix.Store                                        states.go
//
// # Where it is decided
//
//   - Which sections exist, and their shares: table.go. Adding a section adds a row; SetOf names the
//     sections that a pack does without.
//   - Which records of a long history a state contains: states.go (First, From). A build after one
//     more record reads that record only.
//   - Words of the user: requests.go. Conclusions of the assistant: conclusions.go. Facts, decisions,
//     references, tasks, and changed statements: notes.go, by the rules of compress/notes.
//   - Which lines of files and runs are shown, and when the short form is used: lines.go
//     (State.Lines).
//
// # Packages
//
//	files  files that calls name
//	runs   last results of commands, and of calls that act outside of the workspace
//
// # Files, from top to bottom
//
//	states.go       States: states at places of a history, and where they are stored
//	state.go        State: all sections at one place
//	lines.go        lines of files and runs within a limit
//	table.go        sections, their names and shares
//	notes.go        facts, decisions, references, tasks, changes
//	conclusions.go  conclusions of the assistant
//	requests.go     messages of the user
package section
