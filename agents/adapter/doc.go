// Package adapter converts transcripts of other programs to session records and back. It holds the
// parts that all formats share; each format is a package below this folder, which fills in a
// [Format]. The callers are transcript (import, export) and hook. The package knows no disk and no
// mount: the caller passes an [Input], [Output], or [Source].
//
//	import: transcript → Lines (lines.go) → Import of the format → Emitter (sources.go)
//	        → Record with Stamp → Output of package transcript
//	export: records → Format.Arrange (adapter.go) → Export of the format
//	        → Dialogue (dialogue.go) or ReadTurns (turns.go) for records of other formats
//	        → transcript, and a Loss for each gap
//
// # A record
//
//	{"role":"assistant","content":[...],"id":"…","ts":"…",
//	 "import":{"format":"claude-code","ids":["5f1c…"],"at":[12],"rest":{…}}}
//
// The field "import" is the [Stamp]. Its rest keeps the source fields that a record has no field
// for, so that an export in the same format equals the source as canonical JSON. Messages go to
// messages.jsonl. Everything else becomes an event "<format>/<type there>" of events.jsonl. A chain
// of its own, such as a sub-agent's conversation, becomes a child session ([Record.Chain]).
//
// # Decisions
//
//   - Format of a transcript: each format's Sniff, compared in formats (Detect); helpers in
//     sniff.go and shape.go.
//   - Records that the session already has: source ids (SourceID in adapter.go), known.go, and
//     marks.go for messages that grow. No state exists apart from the session.
//   - Fields that the stamp omits because the record contains them: lift.go.
//   - Damaged, large, or deeply nested input becomes an event: kept.go; a truncated document:
//     mend.go; duplicate keys: twice.go. Import fails only if reading or writing fails.
//   - Texts that no message contains are reported: unread.go.
//   - Compaction summaries: summaries.go; the message range of each: known.go.
//   - Order of messages for another format: dialogue.go, turns.go. Names and ids of calls, and the
//     call that a result answers: package calls, as in the renderings of a pack.
//   - Images and files that a provider refuses: accepted.go, for images by package picture.
//     Formats of programs that work with several providers keep the limits of all. Tools of a
//     request: tools.go.
//   - Texts a model has before it after a resume: [Format.Context], context.go.
//   - Bytes of JSON objects, strings, and numbers: object.go, tree.go, halves.go.
//   - Everything that cannot be carried is a [Loss]; tally.go groups losses.
//
// # Files to read first
//
//	adapter.go   Format, Input, Output, Record, Loss: the contract of a format
//	sources.go   Emitter, from source records to session records
//	stamp.go     origin of a record
//	dialogue.go  messages of a session for a format that did not write them
//	lift.go      exact round trips without duplicate data
package adapter
