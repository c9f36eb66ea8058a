// Package views holds no code. It describes the layer that shows sessions and packs to people. All
// views read only: nothing in a session changes.
//
//	inspect   place of a record (why), differences of packs (diff), tokens and cache (stats)
//	overview  data that the browser and the terminal share: list of sessions, rows, notes, changes
//	web       `ctxfs ui`, in a browser
//	top       `ctxfs top`, in a terminal
//	doctor    `ctxfs doctor`: does a mount work on this machine?
//	cli       verbs: why, diff, stats, ui, top
//
// The packages may import ctxabi, pack, session, gc, internal/, and each other, and doctor imports
// fs/mountpoint. None imports fs: a view reads a mount as any program does.
//
//	files of a mount → overview (rows, notes, changes) → web, top
//	store or mount → inspect.Source → Pack (pack.md, pack.json) → why, diff, stats → web, top
//
// Where is it decided?
//
//   - Reason for a record's place, changed blocks, cost of a call: inspect.
//   - Refresh rate, form of numbers, harmless text: overview.
//   - Access to the pages: web/guard.go. Keys, columns, order of the list: top.
//   - Requirements of a mount, warnings and their remedies: doctor.
//
// Open first: inspect/source.go (Source, where packs come from), overview/row.go (one session in a
// list), web/server.go (routes of the pages).
package views
