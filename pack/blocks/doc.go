// Package blocks renders the text of the built-in sources of a recipe: skills, memories, knowledge,
// playbooks, plan, todos, errors, children. Package pack gives files and a task, and a function
// that says which text fits; the functions look at nothing but their arguments. The package also
// evaluates conditions and chooses the strategy.
//
// # Where it is decided
//
//   - Which memories, passages of knowledge, and playbook suit the task: select.go (MemoryText,
//     KnowledgeText, PlaybookText); below which score none does: builtin.go (relevantShare).
//   - Which skills are active: skills.go (SkillsText).
//   - Which strategy applies (recipe, name of the agent, general) and the text of its sections:
//     strategy.go.
//   - When a condition holds: condition.go (Facts.Holds); whether it can ever hold: Facts.Possible.
//   - Text of plan and errors: state.go. Folded todo list: todo.go. Result of a child: children.go,
//     children_text.go.
//   - Default files of built-in sources: file.go (BuiltinPaths). Part of a pack id that a file
//     gives: file.go (File.AppendTo).
//   - Which rows of a file of rows are shown: rows.go (NewestRows).
//   - Front matter of Markdown: frontmatter.go. Memory for split files: corpora.go (MaxCorpora).
//
// Only [Corpora] has state; it is safe for concurrent use and changes no result.
//
// # Files to read first
//
//	file.go       input file of a source
//	select.go     memories, knowledge, and playbooks for a task
//	condition.go  conditions of sources
//	strategy.go   choice of a strategy, text of its sections
//	state.go      plan and errors
package blocks
