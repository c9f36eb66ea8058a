// Package recipe reads what a pack is made of. A recipe is a YAML file,
// context.yaml; [Load] reads it with all that it imports, checks every key and
// value, and gives the effective [Recipe]: a flat list of sources with every
// default filled in and the place of every line remembered.
//
// It knows nothing of sessions, tokens or processes: it reads files through a
// function it is given, and its results are plain data that can be stored as JSON.
//
// # How a file becomes a recipe
//
// [Load] parses a file to nodes (node.go), reads what it imports, then turns its own
// nodes into values as the table of keys says (fields.go, read.go), over those of the
// imports: scalars and env by key, strategies by name, sources by id and in place
// (sources.go). When all files are read, phases, the ids of blocks and the hash are
// found (finish.go). A source without a type changes how an imported one is used,
// never what it runs: its origin stays that of the imported file.
//
// # Promises
//
//   - Strict: an unknown key, a wrong type, a value out of range, a duplicate id,
//     a pattern that does not compile or a cycle of imports is a [Problem] with file,
//     line, column and, where there is a choice, what is allowed. All problems of a
//     file are found in one go.
//   - What a recipe does not say has a default that [Recipe.YAML] shows.
//   - Two recipes with the same [Recipe.Hash] compile to the same packs.
//   - The JSON Schema, the reference in docs/recipe.md and the parser come from
//     one table (fields.go), so that they cannot disagree.
//
// # Files, from top to bottom
//
//	template.go  strings with variables
//	load.go      Load: files and what they import
//	sources.go   the sources of a file
//	syntax.go    where a file is no YAML
//	warn.go      what is allowed but unwise
//	check.go     what does not fit together
//	read.go      nodes as values
//	finish.go    what depends on all of it
//	recipe.go    Recipe: the result
//	yaml.go      a recipe as YAML
//	schema.go    a recipe as JSON Schema
//	fields.go    the table of all keys
//	scalar.go    values of one key
//	node.go      YAML as nodes
//	expand.go    variables and their values
//	problem.go   what is wrong
package recipe
