// Package result shortens results of tools by their kind. The caller gives a text, what is known of
// the call ([Hint]), and a [Limit]. [Recognise] returns the kind, [Shorten] a text within the
// limit, [Repeat] the difference from an earlier content, [Fold] one line for a compacted result. The
// functions are pure. docs/compression.md shows each kind before and after.
//
//	text ─► Recognise: kind by content, else by the call          kind.go, shapes.go, call.go
//	     ─► plainText: without codes of a terminal                plain.go
//	     ─► one function for each kind chooses lines on a sheet   result.go (result.shorten)
//	     ─► cover: lines with the most new identifiers            cover.go, features.go
//	     ─► write: lines, gaps, note with the path of the whole   sheet_write.go
//
// # Where it is decided
//
//   - Kind of a result: kind.go (Recognise). List of kinds: kinds.go. Order of attempts and the
//     fall back to head and tail: result.go (Shorten).
//   - Lines of a log or a test run: log.go, failures.go. Parts of a log line: lines.go
//     (classify, lineRules).
//   - Lines of a file: file.go. Matches, tables, and diffs: rows.go. Listings: listing.go. Pages:
//     html.go. Bytes: binary.go.
//   - Base64 and data URLs inside text: data.go (WithoutData).
//   - Fields of JSON: json.go (by shape), json_table.go (lists as tables), tree.go (leaf by leaf),
//     json_values.go (order of fields, sample of a list).
//   - Line of a compacted result: fold.go (Fold), of JSON fields.go (JoinFields).
//   - Results of a search: search.go (text), hits.go (JSON and rank).
//   - When a content counts as a repeat: repeat.go (repeatShare, repeatText), repeat_json.go,
//     repeat_match.go.
//   - Count of similar lines that are not shown: log.go (sheet.count).
//
// The shown lines are lines of the text in their order; lines of the package begin with "[" or "…".
// JSON stays valid JSON. Every shortened text counts the omission and names the path of the whole.
//
// # Own code
//
// JSON is read by gjson, which keeps values as they are written, HTML by the tokenizer of
// golang.org/x/net. The difference of two contents (Myers) is own code: it compares lines by a key
// and stops early if too much differs.
//
// # Files to read first
//
//	result.go    Shorten, and the function of each kind
//	kind.go      Recognise
//	kinds.go     kinds, hint, limit
//	sheet.go     lines that are shown, and their cost
//	failures.go  failures in the log of a run
package result
