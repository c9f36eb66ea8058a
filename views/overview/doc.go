// Package overview gathers the data that web and top share: the list of sessions, a row for each,
// its notes and refusals, and notices of changes. It reads the files of a mount and changes
// nothing.
//
//	Source.List (list.go) → Entry → Source.Row (row.go) → web, top
//	watch.go → Notice of a changed session or list
//
// Decisions: order of the list: newestFirst (list.go). Intervals between two looks: constants of
// watch.go. Content and limits of a row: row.go; of notes and refusals: notes.go; of versions of
// the summary: summaries.go; of a record's first words: record.go. Form of numbers, times, and
// errors, and replaced control characters: words.go.
//
// Texts of sessions are unchanged, except from [OneLine]. The caller passes them to [Visible]
// before it shows them.
//
// # Files, from top to bottom
//
//	watch.go   notices of changed sessions
//	list.go    list of sessions
//	row.go     one session as a row
//	notes.go   notes of a session, and refusals
//	summaries.go  delivered versions of the summary
//	record.go  role and first words of a record
//	files.go   bounded reads of files
//	words.go   harmless text, numbers, times, errors
package overview
