// Package brief writes the text about an agent's memory that hook and mcp show at the start of a
// conversation: sections of limited length, each with the path of its rest.
//
//	NewWriter(ctx, characters) → Section, Add, Read (writer.go) → String
//	ProjectOf(session) → Project.Read (project.go): memory that sessions of one workspace share
//
// Decisions: length of a section: Share; reads end when the context ends, and Late lists the files
// that were too slow (writer.go). Parts of a project's memory, and their order: Project.Read
// (project.go). The total length is the caller's.
package brief
