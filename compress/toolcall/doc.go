// Package toolcall reads calls of tools and their results: which result answers which call, what
// script a call runs, what it does to a file by its tool's name, and how it ended.
//
// An [Open] pairs calls with results over the records of a session. All functions are pure.
//
// # Files, from top to bottom
//
//	pair.go    calls and their results
//	script.go  the script that a call runs
//	argv.go    wrappers of commands
//	file.go    what a tool does to a file, by its name
//	ended.go   how a call ended
//	frame.go   what tools write around an output
package toolcall
