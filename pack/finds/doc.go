// Package finds has what records of a history hold that is worth a note. It reads each record for it once, keeps what it found beyond the
// process, and folds it into facts, decisions, refs and what is to do, as of any place of the history.
//
// # Files, from top to bottom
//
//	near.go   of a long history, its ends
//	finds.go  Finds
//	fold.go   findings folded into notes
package finds
