// Package swap knows what left the prompts of a session and what repeats in its history, as content by its hash. Records are read
// for it when somebody looks, once, and what was learned is kept with the session.
//
// # Files, from top to bottom
//
//	dedup_table.go  repeated contents, in chunks
//	dedup.go        what repeats in a history
//	swap.go         what left the prompt
//	nodes.go        contents by their hash
//	rows.go         rows of what left
package swap
