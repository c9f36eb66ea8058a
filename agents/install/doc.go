// Package install connects agent programs with ctxfs, for `ctxfs install` and `ctxfs doctor`: it
// writes hooks and the entry of the MCP server into the programs' settings, and removes them.
//
//	p, ok := install.Lookup("claude-code")          // program.go
//	changes, next, err := install.Connect(p, o)     // install.go; next lists the user's own steps
//	changes, err = install.Disconnect(p, o)
//	status := install.Look(p, o)                    // status.go
//
//	Connect → pieces by file (program.go) → readFile (file.go) → piece.put → file.install
//
// # Decisions
//
//   - Programs, their settings files, and the pieces of each: Programs (program.go).
//   - Entries that belong to ctxfs, by their command: ownHook (hooks.go), commandOf (server.go),
//     tomlCommand (toml.go). Other entries stay unchanged.
//   - Edits that keep comments, order, and indentation: jsonc.go; marked block of TOML: toml.go.
//   - Restore of the old bytes: Disconnect, if the hash of the written text still holds (file.go
//     keeps the old text in $XDG_STATE_HOME/ctxfs/install).
//   - Replacement of a file as a whole, through links: file.go (follow, write).
//   - Disabled hooks: offIn (status.go).
//
// A piece works on texts only; Connect and Disconnect plan all changes before the first write. The
// package never writes consent that a program asks its user for.
//
// # Files, from top to bottom
//
//	install.go  Connect, Disconnect
//	status.go   entries that exist
//	program.go  programs, options, targets
//	hooks.go    hooks in JSON
//	server.go   MCP server in JSON
//	toml.go     MCP server in TOML
//	plugin.go   plugin of opencode (text: plugin.js)
//	piece.go    interface of a piece
//	words.go    shell words of a command
//	jsonc.go    JSON with comments, edited in place
//	file.go     settings file, backup, replacement
package install
