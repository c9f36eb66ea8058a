// Package blocks makes what the built-in sources of a recipe show of their files: text alone, by functions that look at nothing but
// their arguments. It also has the conditions and strategies by which sources are chosen.
//
// # Files, from top to bottom
//
//	state.go          plan and errors
//	skills.go         skills
//	strategy.go       strategies and their sections
//	children_text.go  children of the session
//	children.go       a child's result
//	condition.go      conditions of sources
//	select.go         memories, knowledge, playbooks: what suits the task
//	corpora.go        files split and indexed, kept
//	file.go           a file as it was read
//	builtin.go        selections and snippets
//	todo.go           todo lists
//	frontmatter.go    front matter of Markdown
package blocks
