// Package result shortens results of tools by what they are made of: [Recognise] finds the kind of a
// result, [Shorten] shows the lines, rows or fields of it that say the most within a limit, [Repeat]
// what is new in a content that its reader has before him, [FoldSearch] one line for what a search
// found.
//
// The functions are pure: the same arguments have the same result on every machine. What is shown
// are lines of the text as they stand there, in their order, beside lines that begin with "[" or "…"
// for what is not shown; JSON stays JSON. Each shortened text counts what is left out and names the
// path where all of it stands. docs/compression.md shows each kind before and after.
//
// # How lines are chosen
//
// A sheet holds the lines of a result and how much may still be shown. Each kind shows first what
// its readers look for (of a test run what failed and why, of a file its outline), then covers the
// rest: greedily the lines with the most identifiers that are not shown yet, for what they take. What
// is written is counted, and lines are added or taken back until it nearly has the size of the limit.
//
// # Files
//
// From callers to callees:
//
//	result.go                        Shorten, and texts of no other kind
//	kind.go                          Recognise
//	log.go failures.go               what ran, and what failed in it
//	file.go html.go rows.go          a kind each; rows.go has tables, matches and diffs
//	listing.go
//	search.go hits.go                results of searches, in lines and in JSON
//	json.go                          responses by their shape, and leaf by leaf
//	json_table.go json_writer.go
//	tree.go tree_write.go
//	repeat.go repeat_json.go         contents that repeat earlier ones
//	repeat_match.go                  a longest common subsequence
//	call.go shapes.go lines.go       what calls, texts and lines of logs are
//	binary.go
//	sheet.go cover.go sheet_write.go which lines are shown, until the limit is reached
//	json_values.go features.go       values of JSON; what a line is about
//	plain.go kinds.go                text without a terminal's codes; kinds and limits
//
// # Own code
//
// JSON is read by gjson, which returns values as they are written, and HTML by the tokenizer of
// golang.org/x/net. The difference of two contents is Myers' algorithm in hundred lines here: it works
// on lines by a key, and ends early when too much differs, which libraries for diffs do not offer.
package result
