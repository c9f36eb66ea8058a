// Package notes derives notes from records: facts, decisions, items to do, files and a summary.
//
// [Find] reads one record and returns its findings: sentences that state a constraint, a preference
// or a value, that choose or accept, items of lists, files, large outputs. It knows nothing but that
// record, so that its findings can be kept on disk ([FindVersion] tells which are still of use). A
// [State] folds findings in the order of the timeline into rows: an acceptance meets the proposal
// before it, a later statement about the same takes the place of an earlier one, an item has its last
// state, a file what happened to it last. Rows are bounded by parts of the history's size.
//
// Two more readers of records stand beside it: [ActionOf] tells whether the success of a call makes
// up for the failure of another, [SenseOf] whether a message of the user says something by itself.
//
// # Precision before recall
//
// A sentence is taken verbatim or not at all. Questions, conjectures, reported speech, quotations,
// code, logs and outputs of tools state nothing. What is looked for are phrases in sets
// (phrases.txt), most of them English and some German; in other languages nothing is found. Rules say
// where in a clause a phrase counts. They stand in tables (facts.go, values.go, statements.go,
// decisions.go), each with a sentence for which it holds and one that only looks like it, which
// are its tests.
//
// # Files
//
// From callers to callees:
//
//	find.go events.go own.go         Find: one record, of an event, without a program's words
//	state.go bound.go rows.go        State: rows from findings, their bounds, what is read of them
//	facts.go values.go statements.go what a sentence states
//	decisions.go acceptance.go       what it chooses, proposes, says yes to
//	replies.go                       answers of the user to question tools
//	consent.go                       consent to single acts, and limits of a statement
//	tasks.go todo.go                 what is to do, in lists and in words
//	rules.go topics.go               tables of rules; what a row is about
//	prose.go clauses.go              sentences of a text, clauses of a sentence
//	what.go                          what a script is for
//	action.go script.go files.go     what calls, shell scripts and their commands do
//	sense.go said.go                 what a message says, short and long
//	touched.go                       the file of one call
//	words.go lists.go notes.go       words and phrases; records and findings
//
// # Own code
//
// Findings enter packs, whose bytes may not change with a model or a library, and each pack reads all
// records that are new: phrases and clauses are enough for that, and take microseconds a sentence.
// Shell scripts are read by mvdan.cc/sh.
package notes
