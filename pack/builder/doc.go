// Package builder keeps the packs of sessions current for the mount and the command line. The
// caller gives a session. [Builder.Current] returns its pack: the same [pack.Build] again until an
// input changes. The builder runs generators and the summarizer, and stores derived content with
// the session.
//
// # Read of a pack
//
//	Current  waits for the pack in progress; callers that wait share the next one (steps.go)
//	update   inputs.Gather  recipe, files, settings; nothing changed: the last pack (pack/source)
//	         gather         both logs at one moment, failures and decisions in events
//	         derive         workspace memory, outputs of generators, summaries, without secrets
//	         compile        equal id: the last pack; else pack.Input.CompileEpoch (epochs.go), then
//	                        background work for later packs (kept.go, room.go)
//	Opened   appends a row to packs.jsonl for each pack that was opened (served.go)
//
// # Where it is decided
//
//   - Whether a pack is built again: steps.go (Builder.update). How callers share a build:
//     steps.go (Builder.latest).
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
//   - Which pin or budget is refused, and the check of a written recipe: fits.go.
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
//	steps.go       one pack from its inputs to its bytes
//	builder.go     Current, AtOnce, reports of failures
//	computed.go    generators of one pack
//	outputs.go     cache of generator outputs
//	entries.go     state of one session, eviction
package builder
