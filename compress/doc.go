// Package compress makes texts shorter. Its functions are pure: they read no file and no clock, and
// return the same bytes for the same arguments on every machine. What they leave out they count, and
// they name the path where all of it stands.
//
// [HeadTail] and [Head] cut a text to a number of tokens, [Clip] and [ClipTokens] a line. [Fold] and
// [Conclusion] make one line of an output or a report. [KeyLines] chooses the lines of a history that
// may be needed again. [Chunks], [Passages] and [Paragraphs] take a text apart; an [Index] ranks
// texts for a query, and a [Finder] finds out which have none of its terms. Results of tools are
// shortened by their kind in compress/result, what is derived from records (facts, decisions, items)
// is found in compress/notes; both use this package, which knows neither.
//
// Tokens are those of [ctxabi.Weight], an estimate that never changes.
//
// # Files
//
// From callers to callees:
//
//	summary.go      first sentences
//	fold.go         a line for an output, for a report
//	passages.go     parts of a text by size
//	keylines.go     lines of a history that may be needed again
//	vocabulary.go   texts as numbers of their words and lines
//	lines.go        lines of a text as they are read for their words
//	running.go      BM25 of a query that changes a little
//	relevance.go    BM25 over texts
//	paragraph.go    parts of Markdown
//	headtail.go     both ends of a text
//	outline.go      lines that tell what is in a file
//	chunks.go       parts of a content by its bytes
//	times.go        texts without the present time
//	tools.go        tools by their names
//	identifiers.go  words and identifiers of a line
//	finder.go       texts that lack the terms of others
//	terms.go        terms of a ranking
//	memo.go         terms of plain words that were met before
//	stem.go         English endings
//	markdown.go     lines of Markdown
//
// # Own code
//
// A pack's bytes may not change with a dependency, so that what decides about them stands here: the
// ranking (BM25 over terms that keep identifiers whole, with bits that are the same on every
// machine), the stemmer (light and in place; Porter's joins too much), and the reading of Markdown (a
// line at a time, where a parser's tree would lose which bytes a block has). Chunks are cut by a
// library, whose algorithm is named with its version.
package compress
