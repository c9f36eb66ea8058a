// Package tokens counts tokens exactly and offline. The ranks of the encodings
// are embedded in the binary; nothing here ever uses the network.
//
// Counts are exact for o200k_base (the default) and cl100k_base, and so for
// the models that use them. A count of a text does not depend on what was
// counted before, and counts of texts that end in a newline add up when the
// next one begins with '#', which is how packs are laid out.
//
// # How a text becomes a number
//
//	text ──split.go──► pieces ──merge.go──► tokens of each piece ──► the sum
//
// An encoding is two things: a regular expression that cuts text into pieces,
// and ranks that say which neighbouring parts of a piece are joined first.
// tiktoken-go has both, but it joins in quadratic time: 32 KiB of one letter
// cost it over a second, and a log may carry 16 MiB of it. So this package
// takes the ranks (rank.go) and does the two steps itself, in time linear in
// the text for all practical purposes; the tests hold it equal to tiktoken-go
// on real, random and hostile texts.
//
// # Files, from top to bottom
//
//	counter.go  counts in one encoding
//	model.go    the encodings of models
//	cache.go    the counts of recent texts
//	recent.go   the counts of recent pieces
//	merge.go    a piece as tokens
//	rank.go     the vocabularies
//	split.go    a text as pieces
package tokens
