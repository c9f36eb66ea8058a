// Package finds extracts notes from the records of a history: facts, decisions, refs and things to do. It reads each record once, keeps
// its findings on the disk, and folds them into the notes as of any place of the history.
//
// # Files, from top to bottom
//
//	near.go   of a long history, its ends
//	finds.go  Finds
//	fold.go   findings folded into notes
package finds
