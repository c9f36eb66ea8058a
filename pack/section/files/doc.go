// Package files keeps the files that the calls of a history name: what structured tools did to them,
// and the last shell command line that names them, as written. It does not interpret commands.
//
//	call of an edit or write tool ─► changesOf ─► path, action, size, address   tools.go
//	shell script ─► pathsIn: words with a slash or an extension                 command.go
//	State.Apply ─► one entry for each path ─► State.Lines                       state.go, lines.go
//
// # Where it is decided
//
//   - Which tools change a file, and how: tools.go (changesOf). A failed call changes nothing.
//   - Which words of a command are paths: command.go (isPath). Only
//     programs that handle files and redirections of an output name files (pathsIn).
//   - Two spellings of one file: state.go (State.entry). A relative path belongs to an absolute one
//     only if the command line changes to an absolute directory first, or if a result names the
//     working directory.
package files
