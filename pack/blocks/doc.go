// Package blocks makes what the built-in sources of a recipe show of their files: text alone, by functions that look at nothing but
// their arguments. It also has the conditions and strategies by which sources are chosen.
//
// Files, callers above what they call:
//
//	state          plan and errors
//	skills         skills
//	strategy       strategies and their sections
//	children_text  children of the session
//	children       a child's result
//	condition      conditions of sources
//	select         memories, knowledge, playbooks: what suits the task
//	corpora        files split and indexed, kept
//	file           a file as it was read
//	builtin        selections and snippets
//	todo           todo lists
//	frontmatter    front matter of Markdown
package blocks
