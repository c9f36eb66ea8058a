// Package memory executes commands of Anthropic's memory tool (memory_20250818) on a directory: the
// memory/ of an agent's home in a mount, from which packs select files. [Dir.Do] gets a [Command]
// and returns the exact text that the tool's documentation defines, or a [Refusal] for the model.
//
//	JSON → Parse (command.go) → Dir.Do (dir.go) → paths.go → view.go or edit.go → text
//
// Decisions: size limits: MaxFile, MaxAnswer (dir.go); lines and entries of a view: view.go. Paths
// begin with /memories and never leave the directory, also not by encoded ".." or links: inside
// (paths.go). Words of errors: view.go, edit.go.
//
// A command is atomic: put (edit.go) renames a new file over the old one. Commands that change a
// file hold a lock that all processes on the mount share (dir.go), so that no edit of a command is
// lost. Edits by other programs are not protected. The first writing command creates the directory.
//
// Files, from top to bottom:
//
//	dir.go      directory, limits, lock, Do
//	edit.go     commands that change a file
//	view.go     view of a file or a directory
//	paths.go    paths of the tool
//	command.go  parsing of a command
package memory
