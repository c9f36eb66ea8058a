// Package builder keeps the packs of sessions current for the mount and the command line. The
// caller gives a session. [Builder.Current] returns its pack: the same [pack.Build] again until an
// input changes. The builder runs generators and the summarizer, and stores derived content with
// the session.
//
// # Read of a pack
//
//	Current   waits for the build in progress; callers that wait share the next one (present)
//	current   1. inputs.Gather          recipe, files, settings; nothing changed: last build
//	          2. Snapshot, Redact       both logs at one moment, without secrets (source/logs.go)
//	          3. addProject, compute    workspace memory, outputs of generators (computed.go)
//	          4. summarize              accepted summaries (summarizer.go); equal id: last build
//	          5. compileEpoch           pack.Input.CompileEpoch, reason of an epoch (epochs.go)
//	          6. foldAhead, indexAhead  background work for later packs (kept.go, room.go)
//	Opened    appends a row to packs.jsonl for each build that was opened (served.go)
//
// # Where it is decided
//
//   - Whether a pack is built again: builder.go (Builder.current). How callers share a build:
//     builder.go (Builder.present).
//   - When a generator runs again: outputs.go (outputs.due). Cache key: outputs_look.go (want.key).
//     Pause after a failure: outputs.go (firstPause, maxPause).
//   - How long a pack waits for generators: source/outside_read.go (Gatherer.WaitFor), for a
//     required source computed.go (startGrace and its timeouts). Then it takes the last good
//     output, marked stale, except for a required source.
//   - How many generators run at once in the process, per user, and per session: outputs_run.go
//     (maxRuns). Environment and PATH: computed.go (Builder.environment). Stored outputs:
//     outputs_store.go.
//   - Pack for a generator that reads its own pack: computed.go (Builder.inside). Under [AtOnce],
//     which look-ups of the mount use, Current returns an error instead of waiting for generators.
//   - When the summarizer runs: summarizer.go. Its input: summarizer_input.go. What it
//     prints is a version of the summary.
//   - Packs of earlier moments, context/at: at.go (maxPast are kept for each session).
//   - Derived facts, decisions, refs, and todos: notes.go; from events: notes_events.go.
//   - Memory of a workspace: project.go. When a pack takes it again: project_pack.go.
//   - Which pin or budget is refused: fits.go. When a changed recipe is checked: watch.go.
//   - Report while there is no pack: builder.go (Builder.FailureReport).
//   - Which sessions leave memory: entries.go (Builder.trim). Memory for a build: room.go
//     (ErrNoMemory).
//   - Which findings, folds, and indexes are stored under notes/: kept.go. Effect of redaction on
//     small derived files: redacted.go.
//
// # Locks
//
// A [Builder] is safe for concurrent use. The holder of entry.busy, one at a time for each session,
// owns the fields below it in entry; past.busy does the same for packs of earlier moments.
// Builder.mu guards the map of sessions and outputs.mu the runs; both are held only for short
// updates.
//
// # Files to read first
//
//	builder.go     Current: one build from Gather to CompileEpoch
//	computed.go    generators of one pack
//	outputs.go     cache of generator outputs
//	entries.go     state of one session, eviction
//	summarizer.go  summaries by the recipe's command
package builder
