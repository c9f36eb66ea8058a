// Package recipe says what a pack is made of. A recipe is a YAML file,
// context.yaml; [Load] reads it with all that it imports, checks every key and
// value, and gives the effective [Recipe]: a flat list of sources with every
// default filled in and the place of every line remembered.
//
// It knows nothing of sessions, tokens or processes: it reads files through a
// function it is given, and its results are plain data that can be stored as JSON.
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
package recipe
