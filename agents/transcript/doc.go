// Package transcript imports transcripts of other programs into sessions and reads sessions for an
// export. It connects package adapter, which knows no disk, with the places of sessions: a mount
// ([Mounted]) or a store without a daemon ([Stored]). `ctxfs import`, `ctxfs export`, and hook use
// it.
//
//	import: Find (files.go) → Transcripts.Detect (files.go) → Importer.Read (importer.go)
//	        → Import of the format → importOutput (output.go) → target (target.go) → tree.go
//	export: Records (records.go) → Redact (redact.go) → Export of the format
//	        → a file, or the place where a program resumes it (handover.go)
//	follow: Places, KeptIn (places.go) → Follow (follow.go) → an import for each change
//
// # Decisions
//
//   - Format of a file, and refusal of a file that is no transcript: Detect (files.go).
//   - Files that form one transcript: files.go; for sub-agents and related files: claude.go,
//     codex.go, gemini.go. Sessions in the database of opencode: opencode.go.
//   - Records to skip because the session has them: adapter.Known, asked in Importer.Read. The
//     session itself holds all state, so an interrupted import resumes.
//   - Child session of a sub-agent: chainFor (importer.go), makeChild (target.go). The link to a
//     child is written before the child exists, so that a later import finds it.
//   - Creation of the session: with its first record, so that a failed import leaves nothing.
//   - Size of one append: batch (target.go). A refused record becomes a [Loss]: oneByOne
//     (target.go).
//   - Versions of the summary in an export: summaries.go.
//   - Two imports at once: history.lock in tree.go; the second gets ErrLocked or waits.
//   - Values of meta.json after an import: describe (target.go).
//   - Directories of programs: places.go. Programs that can resume a session: handover.go.
//
// # Files to read first
//
//	importer.go  one import: session, children, known records
//	files.go     files of a transcript, detection of its format
//	target.go    appends of records to one session
//	records.go   records of a session for an export
//	tree.go      one interface for mount and store
package transcript
