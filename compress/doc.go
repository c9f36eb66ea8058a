// Package compress shortens text. Callers give a text and a limit and get a shorter text that
// counts what it omits and names the path of the whole. The functions are pure: equal arguments
// give equal bytes on every machine, and no function reads a file or a clock. Packages pack and
// search use it.
//
//	any text            ─► HeadTail, Head, Clip, ClipTokens       headtail.go, fold.go
//	output or report    ─► Fold, Conclusion: one line             fold.go
//	lines of a history  ─► Vocabulary.KeyLines                    vocabulary.go, keylines.go
//	texts and a query   ─► Terms ─► Index ─► Corpus.Rank (BM25)   terms.go, relevance.go
//	text into parts     ─► Paragraphs, Passages, Chunks           paragraph.go, passages.go
//
// # Where it is decided
//
//   - Definition of a term (words, identifiers, scripts without spaces): terms.go (Terms). Stop
//     words: terms.go (IsStopWord). Endings: stem.go (Stem).
//   - Constants of BM25: relevance.go (bm25K1, bm25B).
//   - Which lines of a history are key lines: keylines.go (Vocabulary.KeyLines). Form of an
//     identifier is: identifiers.go (EachWord, KindOfWord).
//   - Lines that report a failure: fold.go (Tells, TellsFailure). Which lines define something:
//     outline.go.
//   - Where a text is cut, and the line that reports the omission: headtail.go (HeadTail, LeftOut).
//   - Sizes of chunks and their algorithm, which must not change: chunks.go.
//   - Kinds of tools by their names (file, search, shell, sub-agent): tools.go.
//   - Lines of Markdown: markdown.go. Times taken out of a text: times.go (LiftTimes). First
//     sentence: summary.go.
//
// Limits are in tokens as [ctxabi.Weight] estimates them; the estimate never changes. An index on
// disk is usable only with equal [TermsVersion]. A [Corpus] is safe for concurrent use.
//
// # Packages
//
//	result    results of tools, shortened by their kind
//	notes     facts, decisions, and items found in records
//	toolcall  calls of tools, their results, and how they ended
//
// # Own code
//
// The bytes of a pack must not change with a dependency, so ranking, stemmer, and Markdown reader
// are own code. A library cuts chunks; chunks.go names its algorithm and version.
//
// # Files to read first
//
//	headtail.go   texts cut to a number of tokens
//	keylines.go   lines of a history that may be needed again
//	terms.go      terms of a text
//	relevance.go  ranking of texts for a query
//	paragraph.go  parts of Markdown
package compress
