// Package lazy creates values at their first use: [Regexp] in lazy.go returns a function that
// compiles a regular expression when it is first called. Hooks, generators, and readers are short
// processes, several for each turn of an agent, so a start of ctxfs must not compile expressions or
// build tables that its verb does not use.
package lazy
