// Package files tracks the files that calls change. For each file it keeps the last result of a
// structured tool, with path and size, and the last command line that names the file, verbatim.
//
//	call ─► toolcall.FileUses ─► State.Apply: one entry for each path ─► State.Lines
//
// Calls that failed change no entry (succeeded). The command line of a script that failed is shown
// for known files only, and says so.
package files
