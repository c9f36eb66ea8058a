// Package build keeps the packs of sessions up to date. A [Builder] gathers the inputs of a session, runs the generators of its
// recipe, compiles them with package pack and returns the same build until something changed.
//
// One build of a session is made at a time; whoever comes meanwhile shares the next one. A source that runs a command has one run at
// a time. What is remembered of sessions is bounded: the least recently used go first.
//
// # Files, from top to bottom
//
//	at.go                packs of earlier moments
//	summarizer_note.go   summary.md
//	served.go            packs that were read are written down
//	native.go            native renderings of a build
//	nodes.go             swap and dedup, as they are now
//	builder.go           Builder: one flight a session; the report while there is no pack
//	watch.go             recipes checked when they change
//	epochs.go            epochs that outlive the process
//	summarizer.go        the recipe's summarizer
//	computed.go          what generators make for a pack
//	project_pack.go      what packs show of the memory of a workspace
//	project.go           the memory of a workspace
//	outputs.go           outputs of generators, one run at a time
//	outputs_run.go       runs and their turns
//	summarizer_check.go  whether a summary can be accepted
//	summarizer_input.go  what a summarizer reads
//	fits.go              whether a pin or a budget can be set
//	check.go             kinds of files for fsck
//	outputs_look.go      what the cache of an output goes by
//	remembered.go        what is remembered of a session, and records that lie among the objects of a cluster
//	notes.go             notes that are derived
//	room.go              memory kept free, and work that nobody waits for
//	notes_events.go      notes of events
//	entries.go           entries of sessions, and their eviction
//	summarizer_store.go  summaries that are kept
//	outputs_entries.go   what is remembered of outputs
//	outputs_store.go     outputs on the disk
//	redacted.go          derived files without secrets
//	shared.go            what packs of all hosts show
//	kept.go              findings, and the index by which questions are answered, that are kept
package builder
