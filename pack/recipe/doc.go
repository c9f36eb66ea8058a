// Package recipe reads context.yaml, the recipe of a prompt. [Load] takes the path of a file and a
// function that reads files. It returns the effective [Recipe]: imports merged, defaults filled in,
// every key checked. The result is plain data that can be stored as JSON. The package knows no
// sessions, tokens, or processes.
//
//	file ─► nodes                            node.go
//	     ─► imports, then its own keys       load.go
//	     ─► values by the table of keys      fields.go, read.go, scalar.go
//	     ─► sources over imported ones       sources.go
//	     ─► phases, block ids, hash          finish.go
//	     ─► Recipe, or Problems              recipe.go, problem.go
//
// # Where it is decided
//
//   - Which keys exist, with their types, ranges, defaults, and descriptions: fields.go. The JSON
//     Schema (schema.go) comes from the same table, and a test compares docs/recipe.md with it.
//   - Which imported source a source replaces: load.go (group.key, unnamed). Rules for a source
//     without a type may change: sources.go (reader.tuned).
//   - Phase of a source: finish.go (Source.place). Id of a block: finish.go (loader.blocks).
//   - Recipe of a session without one: default.yaml. Built-in strategies: strategies.yaml.
//   - Limits: load.go (maxFiles, maxSources), node.go (size and depth of a file).
//   - Rules that concern several keys: check.go. Allowed but unwise: warn.go.
//   - Variables: expand.go, template.go. Message for broken YAML: node.go (explain).
//   - Which changes give another pack: finish.go (Recipe.hash).
//
// Which file is the recipe of a session is decided in pack/source/recipe_file.go.
//
// # Invariants
//
//   - An unknown key, a wrong type, a value out of range, a duplicate id, or an import cycle is a
//     [Problem]. Load returns all problems of a file together.
//   - [Recipe.YAML] (yaml.go) shows every default; Load reads it to a recipe of the same Hash.
//   - Two recipes of the same [Recipe.Hash] compile to the same packs.
//   - [Default] is shared; callers must not change it.
//
// # Files to read first
//
//	recipe.go   Recipe, Source, Condition, Strategy: the result
//	fields.go   table of all keys
//	load.go     Load: files and imports
//	sources.go  sources of a file, over imported ones
//	finish.go   phases, block ids, hash
package recipe
