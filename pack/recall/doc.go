// Package recall finds the parts of old records that matter for what is asked now, and that the pack does not show otherwise.
//
// Files, callers above what they call:
//
//	recall  Query: passages that answer what is asked
//	memo    what a look reuses of those before
//	view    what stands in the pack already
//	index   the index of old records
package recall
