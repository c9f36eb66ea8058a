// Package cli has the verbs that print prompts and recipes: pack, recipe show, and recipe check. It
// registers them with [Register].
//
// It may not import fs or views. The cli packages of run, eval, and views use its flags
// and the search for the recipe file of a session.
//
// # Files, from top to bottom
//
//	verbs.go          all verbs of this package, and recipe
//	pack.go           pack, and the flags of every verb that compiles a prompt
//	recipe_show.go    recipe show
//	recipe_check.go   recipe check
//	recipe.go         the recipe file of a session; recipe schema, recipe default
//	redact_recipe.go  a recipe without its secrets
package cli
