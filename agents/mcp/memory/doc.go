// Package memory answers the commands of Anthropic's memory tool
// (memory_20250818) from an ordinary directory: in a mount, from the memory/
// of an agent's home, whose files packs choose from.
//
// # What it promises
//
// [Dir.Do] gives the text that the tool's documentation names for each command,
// word by word, and for each error as well: a [Refusal] is an answer for the
// model, not a failure of the program. What the documentation does not foresee
// is said in the same manner.
//
// A path begins with /memories, which stands for the directory. None leads out
// of it: neither "..", however it is encoded, nor a symbolic link. The
// directory is made by the first command that writes.
//
// A command is done whole or not at all: a file is replaced by renaming, and
// commands that change something wait for one another, in all processes that
// share the mount, so that of two edits none is lost. What others (an editor,
// a shell) write into these files meanwhile is theirs to look after.
//
// Limits: a file that is written has at most [MaxFile] bytes, an answer about
// [MaxAnswer] bytes, and then says which view_range shows the rest.
//
// # Files, from top to bottom
//
//	dir.go      the directory, and the commands in words
//	edit.go     what changes a file
//	view.go     what shows one
//	paths.go    the paths of the tool
//	command.go  a command as the model writes it
package memory
