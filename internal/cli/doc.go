// Package cli has the code that verbs of several folders use: exit codes and error texts, common
// flags, ways to open a store, and output on a terminal.
//
// The verbs themselves are in the cli package of their folder. Each of these packages has one
// function, Register, that adds its verbs to the root command; cmd/ctxfs calls all of them:
//
//	main ─► cli.Run ─► NewRoot (cmd/ctxfs) ─► Register (agents/cli, fs/cli, ...)
//	                ─► RunE of one verb ─► StoreFlag, OpenToRead, PrintJSON, ...
//	                ─► Message, ExitCode
//
// Package cli knows no verb or mount. Hooks connect it to the packages above it:
// [NewRoot], which cmd/ctxfs sets, and [ClearMounts], which fs/cli sets.
//
// # Files, from top to bottom
//
//	run.go       one command line, and commands that group other commands
//	complete.go  completion of sessions and mountpoints
//	reach.go     stores, opened to read or to change
//	redact.go    --redact and --redact-allow
//	moment.go    SESSION@POINT
//	flags.go     other flags of several verbs
//	print.go     JSON, numbers, and the width of a terminal
//	control.go   small files of a session in a mount
//	exit.go      error texts and exit codes
package cli
