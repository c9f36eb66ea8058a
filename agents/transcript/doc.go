// Package transcript puts transcripts of other programs into sessions, and reads sessions for them.
//
// It joins two things that do not know each other: the formats of package adapter, which know no disk, and the places
// where sessions are, a mount or a store ([Mounted], [Stored]).
//
//	found, err := transcript.Find(files, os.Stdin) // opens them: a file, several of one conversation, a directory
//	err = found.Detect(nil)                        // each gets its format; what is no transcript is refused here
//	im := transcript.NewImporter(ctx, tree, ref, &losses, progress)
//	for _, t := range found { err = im.Read(t) }   // appends what the session has not got yet
//	err = im.End()                                 // durable, and closed
//
//	kept, unknown, err := transcript.KeptIn(transcript.Places(home, os.Getenv)) // all that programs have kept of this user
//
//	logs, err := transcript.Records(tree, ref, loss) // the other way: a session and its children, log by log
//
// # Promises
//
// A record that is in the session already is not added again, also after an import that was interrupted; what is there is
// asked of the session itself. The link to a child stands before the child is made, so that a later import finds it. What
// cannot be carried is a [Loss], and no record is refused without one. The session is made when its first record comes, never
// before: a file that turns out to be no transcript leaves nothing behind.
//
// # Files, from top to bottom
//
//	importer.go  one import: the session, its children, what is known of them
//	output.go    where a format puts the records of one transcript
//	target.go    one session that gets records, in batches
//	records.go   a session's records for an export
//	redact.go    the secrets of these
//	handover.go  where a program resumes one
//	tree.go      a mount and a store, as import and export see them
//	follow.go    what grows there
//	places.go    where programs keep theirs
//	opencode.go  those that are in the database of a program
//	files.go     which files make up a transcript, and its format
//	claude.go    what Claude Code keeps beside one
//	codex.go     which threads of Codex belong together
//	gemini.go    what Gemini CLI keeps beside one
//	open.go      files that a user named
//	loss.go      what could not be carried
package transcript
