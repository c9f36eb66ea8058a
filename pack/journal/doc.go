// Package journal folds the history of a session over its index, so that it fits its room, and renders what is left.
//
// A fold ([Fold]) decides by weights which records are live, which ones a compaction takes behind the boundary, and how much is shown
// of each. Zones stand for the records behind the boundary, in generations: a minor compaction keeps what earlier ones left, byte for
// byte. A [Memo] has what one build may reuse of those before it: it changes how long a build takes, never what it is.
//
// # Files, from top to bottom
//
//	ahead.go            folds before they are needed
//	memo.go             what a journal reuses of those before
//	saved.go            what outlives the process: folds and zones
//	coder.go            the form in which they are kept
//	zones.go            what stands for records behind the boundary
//	zones_said.go       the user's words
//	zones_state.go      files and runs
//	zones_summary.go    the summary
//	zones_lines.go      key lines
//	digests.go          what zones need to know of a record
//	states.go           what records say of files and runs; it outlives the process, too
//	render.go           the journal as it stands in the pack
//	zones_images.go     records and images in zones
//	zones_notes.go      derived notes and recorded decisions
//	asked.go            what the user asked last
//	repeats.go          results that repeat earlier ones
//	pieces.go           the journal as pieces
//	history.go          the fold over the index
//	history_compact.go  compactions
//	generations.go      minor compactions, which keep what earlier ones left
//	summary.go          a summary of the recipe's summarizer
//	items.go            items of derived lists
//	found.go            what records hold that is worth a note
//	lead.go             leading records
//	history_rules.go    the numbers of a fold
//	outline.go          parts of a record for native renderings
//	zones_rules.go      shares of zones
//	decided.go          recorded decisions
//	attempts.go         how calls ended
package journal
