// Package journal fits the history of a session into its tokens and renders it. The caller, package
// pack, gives the records and the [Rules]. A [Fold] says which records are live, which are
// compacted, and how much of each is shown; [Memo.RenderJournal] returns the parts of the pack.
//
//	records (weights) ─► Fold.add: boundary, shares, generations     history.go, history_compact.go
//	Fold ─► pieces: which record or omission comes where              pieces.go
//	compacted records ─► Zones: blocks and folded lines               zones.go, zones_*.go
//	live records ─► text, or a reference to an equal earlier result   render.go, repeats.go
//	─► []Part with exact tokens                                       render.go
//
// # Where it is decided
//
//   - When a compaction happens: history.go (Fold.add). How far it moves the boundary:
//     history_compact.go (Fold.compact). How much it frees: Fold.low, Fold.leastGain.
//   - Minor or major compaction: generations.go (Fold.minorTo). A minor one keeps the zones of
//     earlier ones byte for byte; at most maxMinors follow a major one.
//   - How much of a record is shown: history_rules.go (Policy.Rules, Fold.arriving). Shares of
//     results after a turn: history_compact.go (Fold.endTurn).
//   - Steps of a tighter fold: history_rules.go (Policy.Rules, MaxStep), of its zones:
//     zones_rules.go (Policy.zoneRules).
//   - Shares of the zones: zones_rules.go. Order of the zones: zones.go (zoner.make).
//   - Tokens of the user's words beyond their share: history_compact.go (Fold.wordsBeyond).
//   - Content of a zone: the sections of pack/section. Choice of the user's words: zones_said.go, of
//     conclusions and the delivered summary: zones_summary.go and summary.go, of files and runs:
//     zones_state.go, of key lines: zones_lines.go, of recorded decisions: decided.go, of images:
//     zones_images.go. Marks of statements that the user changed: changed.go.
//   - Leading system and developer records: lead.go. Last request, and whether a message is one:
//     asked.go.
//   - Failed attempts that still count, from the section of runs: lessons.go. Results shown as
//     references: repeats.go.
//   - How long images stay: history_compact.go (ImageTurns, Fold.KeepsImages).
//   - When folds, zones, and sections are stored with the session: saved.go; the format of folds
//     and zones: coder.go.
//
// # Invariants
//
// A fold decides by the weights of the index and depends on the prefix of the records alone; until
// the first compaction it counts exactly. Zones depend on the records up to their compaction and do
// not change afterwards. A [Memo] changes only the duration of a build. It belongs to one
// goroutine.
//
// # Files to read first
//
//	history.go          Fold, and how it takes the next record
//	history_compact.go  compactions and the boundary
//	history_rules.go    numbers of a fold
//	zones.go            blocks that replace compacted records
//	render.go           the journal as parts of a pack
package journal
