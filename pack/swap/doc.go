// Package swap lists content that left the prompts of a session ([Swap]) and content that repeats
// in its history ([Dedup]), each addressed by its hash. The mount shows both as directories through
// pack/builder/nodes.go.
//
//	each build ─► Swap.Note: ranges of a compaction, shortened results      no record is read
//	a read     ─► Swap.Update: rows with hash, size, and summary ─► Nodes   each record is read once
//	a read     ─► Dedup.Update: contents by hash ─► blobs ─► Nodes          each record is read once
//
// # Where it is decided
//
//   - Content that left the prompt: pack/left.go; its row: swap.go (Swap.Note,
//     rangesOf).
//   - Which results get a row of their own, and the text of a summary: rows.go (minOutput,
//     swapSummary).
//   - Repeats, and their least size: dedup.go (Dedup.index, minBlob).
//   - Where progress is stored: derived content swap/notes, swap/rows (swap.go), and dedup/batches
//     (dedup.go).
//
// A row stays once it was given, whatever the budget or recipe is later. Swap.mu is held briefly,
// so builds can note while records are read; Swap.reading comes before it.
//
// # Files, from top to bottom
//
//	dedup.go  Dedup: repeated content of a history
//	swap.go   Swap: content that left the prompt
//	nodes.go  contents by their hash
//	rows.go   rows of content that left the prompt
package swap
