// Package swap knows what left the prompts of a session and what repeats in its history, as content by its hash. Records are read
// for it when somebody looks, once, and what was learned is kept with the session.
//
// Files, callers above what they call:
//
//	dedup_table  repeated contents, in chunks
//	dedup        what repeats in a history
//	swap         what left the prompt
//	nodes        contents by their hash
//	rows         rows of what left
package swap
