// Package overview gathers what the views of all sessions show, in a browser and in a terminal: which sessions there
// are, the row of each, what one knows and what was refused in it, and which of them changed. It is a client of the mount:
// it reads files, and changes nothing.
//
// Texts of sessions are unchanged, except those that [OneLine] made. [Visible] makes any of them harmless.
//
// # Files, from top to bottom
//
//	watch.go   which sessions changed
//	list.go    all sessions
//	row.go     one of them as a row
//	notes.go   what it knows, and what was refused
//	record.go  the first words of a record
//	files.go   files of a session, as much of them as a view shows
//	words.go   text that is harmless; numbers, times, errors in words
package overview
