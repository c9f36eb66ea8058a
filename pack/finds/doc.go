// Package finds extracts findings from the records of a history and folds them into notes: facts,
// decisions, refs, and todos. [Finds.At] takes a history and a place and returns the [Notes] as of
// that place. Each record is read once; a [prefix.Lines] stores the findings with the session.
//
//	record ─► findAt (compress/notes.Find) ─► Batch ─► prefix.Lines
//	batches ─► folding (compress/notes.State) ─► Notes as of a place
//
// # Where it is decided
//
//   - Statements of a sentence: compress/notes. Where findings are stored: pack/builder/kept.go (findsName).
//   - Which records of a long history a pack reads: finds.go (GapBefore, First, Newest).
//   - Which findings are reused when the gap moves: near.go (Nearby).
//   - When a reader must not wait for the rest: finds.go (Finds.Behind). Size of a batch: finds.go
//     (BatchBytes).
//   - Whether stored findings still match the history: pack/prefix (LoadLines).
//
// A [Finds] is safe for concurrent use; its mutex is held while records are read.
//
// # Files, from top to bottom
//
//	near.go   findings of both ends of a long history
//	finds.go  Finds: reading, storing, and folding
//	fold.go   fold of findings up to a place
package finds
