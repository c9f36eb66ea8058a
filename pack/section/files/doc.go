// Package files keeps the files that the calls of a history name: what structured tools did to
// them, and the last shell command line that names them, or a directory of them, as written. It
// does not interpret commands.
//
//	call of an edit or write tool ─► changesOf ─► path, action, size, address   tools.go
//	shell script ─► pathsIn: words with a slash or an extension                 command.go
//	State.Apply ─► one entry for each path ─► State.Lines                       state.go, lines.go
//
// # Where it is decided
//
//   - Which tools change a file, and how: tools.go (changesOf). A failed call changes nothing:
//     tools.go (succeeded).
//   - Which words of a command are paths: command.go (isPath). Only programs that handle files and
//     redirections of an output name files (pathsIn). Which commands mean all files of a directory
//     or of the working tree: command.go (replacers, changesTree).
//   - Two spellings of one file: state.go (State.find). A relative path belongs to an absolute one
//     only if the command line changes to an absolute directory first, or if a result names the
//     working directory. A file that may have two entries has no count of edits: lines.go
//     (State.nameOf).
package files
