// Package build keeps the packs of sessions up to date. A [Builder] gathers the inputs of a session, runs the generators of its
// recipe, compiles them with package pack and returns the same build until something changed.
//
// One build of a session is made at a time; whoever comes meanwhile shares the next one. A source that runs a command has one run at
// a time. What is remembered of sessions is bounded: the least recently used go first.
//
// Files, callers above what they call:
//
//	at                packs of earlier moments
//	summarizer_note   summary.md
//	served            packs that were read are written down
//	native            native renderings of a build
//	nodes             swap and dedup, as they are now
//	builder           Builder: one flight a session
//	watch             recipes checked when they change
//	epochs            epochs that outlive the process
//	summarizer        the recipe's summarizer
//	computed          what generators make for a pack
//	failed            the report while there is no pack
//	outputs           outputs of generators, one run at a time
//	outputs_run       runs and their turns
//	summarizer_check  whether a summary can be accepted
//	summarizer_input  what a summarizer reads
//	fits              whether a pin or a budget can be set
//	check             kinds of files for fsck
//	outputs_look      what the cache of an output goes by
//	remembered        what is remembered of a session
//	notes             notes that are derived
//	room              memory kept free
//	notes_events      notes of events
//	entries           entries of sessions, and their eviction
//	summarizer_store  summaries that are kept
//	signal            a flag to wait for
//	outputs_entries   what is remembered of outputs
//	outputs_store     outputs on the disk
//	redacted          derived files without secrets
//	finds_keep        findings that are kept
package build
