// Package tokens counts tokens exactly and offline, for o200k_base (the default), cl100k_base, and
// the models that use them. The vocabularies are embedded in the binary. Package ctxabi has the
// fast estimate (Weight).
//
//	model or encoding → For (counter.go, model.go) → Counter
//	text ──split.go──► pieces ──merge.go──► tokens of each piece ──► sum
//
// # Decisions
//
//   - encoding of a model name: the table in model.go; an unknown name is an error that lists all
//   - where a text is cut into pieces (the regular expressions of the encodings, by hand): split.go
//   - order in which bytes of a piece are joined: merge.go, ranks in rank.go. The algorithm differs
//     from tiktoken-go, which takes quadratic time for a piece, because a record may have 16 MiB;
//     tests compare both
//   - cached counts: texts of at least 64 bytes in cache.go, short pieces in recent.go
//   - special tokens and invalid UTF-8: Count in counter.go
//
// The count of a text does not depend on earlier counts. Counts add up if a text ends in a newline
// and the next one begins with '#', which is the layout of packs ([Counter.CountParts]). A
// [Counter] is safe for concurrent use; each encoding is loaded at its first use.
//
// # Files, from top to bottom
//
//	counter.go  counts in one encoding
//	model.go    encodings of models
//	cache.go    counts of recent texts
//	recent.go   counts of recent pieces
//	merge.go    tokens of a piece
//	rank.go     vocabularies
//	split.go    pieces of a text
package tokens
