// Package section derives blocks of a prompt from compacted records without a model. A section is a
// fold over the calls and results of a history: the same records give the same lines.
//
//	records of a window ─► callsOf ─► State.apply: every section of the table   state.go
//	States.At ─► continues the longest known prefix                              states.go
//	State.Lines ─► lines within a token limit, changes of shown lines first      lines.go
//	States.Save, Restore ─► prefix.Store                                         states.go
//
// # Where it is decided
//
//   - Which sections exist, and their shares: table.go. Adding a section adds a row.
//   - How far a state looks back: states.go (From). A build after one more record reads that record
//     only; a window that is needed later is prepared some records at a time (States.Prepare).
//   - Which lines are shown, and when the short form is used: lines.go (State.Lines).
//
// # Packages
//
//	files  files that calls name
//	runs   last results of commands, and of calls that act outside of the workspace
package section
