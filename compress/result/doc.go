// Package result shortens results of tools. The caller passes a text, facts about the call
// ([Hint]), and a [Limit]. [Recognise] returns the kind, [Shorten] a text within the limit,
// [Repeat] the difference from an earlier content, [Fold] one line for a compacted result. The
// functions are pure. docs/compression.md shows texts before and after.
//
//	text ─► Recognise: kind by content, else by the call         kind.go, call.go
//	     ─► WithoutData, plainText: without base64 and codes     data.go, plain.go
//	     ─► lines: head, tail, failures, outline, and then       text.go, log.go
//	        the lines with the most new identifiers              sheet.go, features.go
//	     ─► json: the leaves with the most new identifiers       tree.go
//
// # Where it is decided
//
//   - Kind of a result: kind.go (Recognise). Order of attempts and the fall back to head and tail: result.go
//     (Shorten).
//   - Lines that come before others: text.go (result.lines). Selection of the others: sheet.go (sheet.cover).
//   - Class of a line of a log: lines.go (classify, lineRules). Lines that are counted: log.go (countAlike).
//   - Fields of JSON: fields.go (Field.Class), json.go (fieldRank), tree.go (tree.gain).
//   - Pages: html.go. Bytes: binary.go. Results of a search: hits.go.
//   - Line of a compacted result: fold.go (Fold), of JSON fields.go (JoinFields).
//   - When a content counts as a repeat: repeat.go (repeatShare, repeatText).
//
// The shown lines are lines of the text in their order; lines of the package begin with "[" or "…".
// JSON stays valid JSON. Every shortened text counts the omission and names the path of the whole.
//
// gjson reads JSON and keeps values as they are written. golang.org/x/net reads HTML,
// charmbracelet/x/ansi removes codes of terminals, and rogpeppe/go-internal compares the lines of a
// repeat.
//
// # Files to read first
//
//	result.go  Shorten
//	kind.go    Recognise
//	text.go    result.lines
//	sheet.go   lines that are shown, and their cost
//	tree.go    result.json
package result
