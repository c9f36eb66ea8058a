// Package brief writes what a program is told of its memory when it begins: so many characters, in sections, each with the
// path of its rest.
//
// [Writer] is the text; [Project] is what the sessions of one workspace share, as the mount has it. What must not be waited for
// forever is read with [Writer.Read], which gives up when a context ends.
//
// # Files, from top to bottom
//
//	project.go  the memory of a project, in a mount
//	writer.go   a text of sections that has a most of characters
package brief
