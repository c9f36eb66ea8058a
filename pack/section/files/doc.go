// Package files tracks the files that tool calls name. For each file it keeps the last action of a
// structured tool and the last shell command line that names the file or its directory. It quotes
// command lines verbatim and does not interpret them.
//
//	call of an edit or write tool ─► changesOf ─► path, action, size, address   tools.go
//	shell script ─► pathsIn: words with a slash or an extension                 command.go
//	State.Apply ─► one entry for each path ─► State.Lines                       state.go, lines.go
//
// # Where it is decided
//
//   - Which tools change a file, and how: tools.go (changesOf). Failed calls are ignored: tools.go
//     (succeeded).
//   - Which words of a command are paths: command.go (isPath, pathsIn). Only handlers and output
//     redirections name files.
//   - Which commands apply to a whole directory or working tree: command.go (replacers,
//     changesTree).
//   - Two spellings of one file: state.go (State.find). A relative path belongs to an absolute one
//     only if the command line changes to an absolute directory first, or if a result names the
//     working directory. The line of a file that may have two entries omits the number of edits:
//     lines.go (State.nameOf).
package files
