// Package ctxabi is the contract between ctxfs and the programs that use its mount: names, formats,
// limits, checks, and errors. The package does no I/O and imports no other package of ctxfs, so
// that all packages can share it.
//
// # Vocabulary
//
//   - A log is messages.jsonl or events.jsonl of a session. A log is append-only.
//   - A record is one line of a log: one JSON object of at most [MaxRecord] bytes, addressed by its
//     line number, from 1.
//   - A span is a range of records of one log, such as "messages:12-18".
//   - A [Ref] is the path of a session in the tree: owner, agent, session.
//   - A weight is a deterministic estimate of the tokens of a text. Exact counts come from package
//     internal/tokens.
//
// # Flow
//
//	bytes of a writer → CheckMessage, CheckEvent (check.go) → nil, ErrMalformed, or ErrTooLarge
//	                       └ syntax of JSON in one pass (scan.go)
//	stored record → DecodeMessage (decode.go) → Message: role, text, calls, results
//	              → DecodeParts (ordered.go)  → the same with all parts in their order
//	              → Outliner (outline.go)     → Outline: role, calls, weight, for the index
//	stored event  → DecodeToolEvent (event.go), DecodeUsage (usage.go)
//
// Check functions decide which bytes enter a log. Decode functions return no errors: DecodeMessage
// returns a line that it does not understand as text. If a key occurs twice, the last one counts.
// Check, Parse, and Valid functions return an error of kind [ErrMalformed] unless they document
// another kind.
//
// # Decisions
//
// Records:
//
//   - which roles and types a message may have: CheckMessage in check.go, roles in record.go
//   - which records without a role are accepted (items of the Responses API): items.go
//   - which forms of a call, a result, or an image are recognized in a message: parts.go
//   - which fields of a call go back to its provider, such as signatures and reasoning: ordered.go
//   - how images, sounds, and files are decoded from base64: payload.go
//   - how tokens are estimated without a tokenizer: Weight in weight.go
//   - which text of a record a person or a search reads: said.go
//   - which fields of a usage event give input, output, and cached tokens: usage.go
//   - the strict JSON parser of records: scan.go; JSON outside of records: json.go
//
// Files and rows:
//
//   - keys and defaults of gc.policy, syntax of context/budget: policy.go
//   - syntax of context/plan.json: plan.go; of context/review.diff: diff.go; of context/env: env.go
//   - rows of facts.jsonl, decisions.jsonl, refs.jsonl, and the names of all notes: notes.go
//   - versions of the summary, front matter of summary.md, events of type summary: summary.go
//   - rows of context/swap and context/dedup: nodes.go; of context/journal.jsonl: journal.go
//   - rows of trust.jsonl: trust.go
//
// Names, limits, and errors:
//
//   - file names, extended attributes, and valid names of agents and sessions: layout.go
//   - which files are views, computed when they are read: IsView in layout.go; which temporary
//     files of editors are no pins: IsPin in layout.go
//   - maximum sizes (record 16 MiB, JSON nesting 1,000, control file 1 MiB, blob 256 MiB,
//     unfinished writes of one user 256 MiB) and the default budget of 32,000 tokens: layout.go
//   - syntax of sources such as "messages:tail:40": span.go; content ids and references: ref.go
//   - the directory name of a workspace, the marks around quoted text: project.go
//   - which kinds of errors exist and the errno of each: errors.go; only package fs returns errnos
//   - version of the store format: FormatVersion in version.go
//
// # Files to read first
//
//	layout.go  names and limits: the table of contents of a session
//	check.go   rules for records that enter a log
//	record.go  Message, the normal form of all record formats
//	errors.go  kinds of errors with their errnos
//	parts.go   the parts of a message, shared by decoders and outlines
package ctxabi
