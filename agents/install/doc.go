// Package install connects agent programs with ctxfs: it writes hooks and the entry of the MCP server into their own settings, and takes
// them out again.
//
//	p, ok := install.Lookup("claude-code")
//	changes, next, err := install.Connect(p, o)
//	changes, err = install.Disconnect(p, o)
//	status := install.Look(p, o)
//
// A [Program] names its files, and what belongs in each: a piece, which can be put into the text of a file, taken out of it, and found in
// it. Pieces know texts alone; what is read and written is decided in [Connect] and [Disconnect]. JSON keeps its comments, its order and its
// indentation, and an edit is made beside what is there. TOML gets a marked block. What is edited is parsed before and after.
//
// An entry is one of ctxfs by its command, whatever path it has: so an older one is replaced, and nobody else's is touched. Before the first
// change of a file its text is kept in $XDG_STATE_HOME/ctxfs/install, with the hash of what was written. While that hash holds, Disconnect
// gives the old text back.
//
// What a program asks its user (trust in a project, in a hook, in a server) is never written: Connect returns what to do next.
//
// # Files, from top to bottom
//
//	install.go  what is done to files
//	status.go   what is there
//	program.go  the programs
//	hooks.go    hooks in JSON
//	server.go   the MCP server in JSON
//	toml.go     the MCP server in TOML
//	plugin.go   the plugin of opencode
//	plugin.js   its text
//	piece.go    what a piece is
//	words.go    words of a shell, and entries that are made of them
//	jsonc.go    JSON with comments, edited in place
//	file.go     a file, its backup, and how it is replaced
package install
