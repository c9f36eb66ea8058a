// Package journal folds the history of a session over its index, so that it fits its room, and renders what is left.
//
// A fold ([Fold]) decides by weights which records are live, which ones a compaction takes behind the boundary, and how much is shown
// of each. Zones stand for the records behind the boundary. A [Memo] has what one build may reuse of those before it: it changes how
// long a build takes, never what it is.
//
// Files, callers above what they call:
//
//	memo             what a journal reuses of those before
//	zones            what stands for records behind the boundary
//	zones_lines      key lines
//	zones_summary    the summary
//	render           the journal as it stands in the pack
//	finds_fold       findings folded into notes
//	zones_images     records and images in zones
//	zones_notes      derived notes and recorded decisions
//	asked            what the user asked last
//	repeats          results that repeat earlier ones
//	pieces           the journal as pieces
//	history          the fold over the index
//	history_compact  compactions
//	summary          a summary of the recipe's summarizer
//	items            items of derived lists
//	finds            what records hold that is worth a note
//	lead             leading records
//	history_rules    the numbers of a fold
//	outline          parts of a record for native renderings
//	zones_rules      shares of zones
//	decided          recorded decisions
//	attempts         how calls ended
package journal
