// Package source gathers the inputs of a pack from disk. [Gatherer.Gather] takes a session and
// returns a [Gathered]: recipe, settings, files of the agent's home and of the workspace, children.
// [Logs] returns both logs as packs show them. Package pack/builder calls it; package pack compiles
// the result.
//
//	Gather ─► openHome, choose the recipe, settings        home.go, recipe_file.go, session.go
//	       ─► files of each source, children               list.go, home_file.go, children.go
//	       ─► files of the workspace                       outside_read.go
//	       ─► which generators are refused                 trust.go
//	       ─► nothing changed: the last Gathered           session.go (Gathered.same)
//	Snapshot, Redact ─► both logs at one moment            logs.go, readable.go, mask.go
//
// # Where it is decided
//
//   - Which recipe applies (session, agent, last good one, default): recipe_file.go (choose).
//   - Budget, encoding, state, and active skills: session.go (Gatherer.settings). The budget is the
//     first of Config.Instead, context/budget, the recipe, and the default (Gatherer.Fallback).
//   - Which files a source takes: list.go. Limits of a directory: home_dir.go; of a file: sign.go
//     (maxFile), outside_read.go (maxWorkspaceFile).
//   - Which text of summary.md a pack has, now and at an earlier moment: summary.go.
//   - Why a file yields nothing: home_file.go (reasonNoText and its neighbors).
//   - Whether a file is read again: home_file.go (home.inspect), sign.go (Sign, tick).
//   - Rights to run and read as the owner: trust.go. trust.generator decides for a command,
//     trust.check compares the hashes of the recipe and of the scripts that the command names with
//     the trust file, trust.outside decides for a file outside of the home. Which files a command
//     gets in a shared space: trust_held.go.
//   - How long a read waits for the workspace and for generators: outside_read.go
//     (Gatherer.WaitFor).
//   - Values of variables: variables.go. Failures and decisions in events: errors.go, decided.go.
//   - When a tool event has its place, and which snapshot packs see: logs.go (Logs.Snapshot).
//     Replacement of a damaged record: readable.go. Secrets: mask.go.
//   - How child results are chosen: children.go. The summarizer as a source: summarizer.go. Head
//     of a prefix of both logs: derived.go (Derived.Head).
//
// Every path of a home is opened beneath the descriptor of the home; a link cannot lead out of it.
// A [Gatherer] is safe for concurrent use. Gather may update the Gathered of the previous call, so
// calls for one session run one at a time.
//
// # Files to read first
//
//	session.go      Gather and the settings
//	list.go         files of each source
//	recipe_file.go  choice of the recipe
//	trust.go        rights of recipes and scripts
//	logs.go         both logs as packs show them
package source
