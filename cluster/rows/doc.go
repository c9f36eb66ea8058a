// Package rows has what a session is made of beside records and changes follow the session to all hosts: what
// users store under its hash, and what packs show and cannot be made again in the same words. It
// commits rows of the kinds b, s and o, and applies them.
//
//	r := rows.New(e)
//	h := host.New(host.Options{Engine: e, Handlers: r.Handlers(), ...})
//	s, err := session.Open(dir, session.Options{Committer: r.Committer(h)})
//
// # Rows
//
//	b  Blob     a blob is stored, was used, or is dropped; its bytes are the object b/<sha256>
//	s  Summary  a line of what a summarizer said
//	o  Output   what a generator printed, the last good recipe, how the last epoch began, and what packs
//	            showed of a workspace
//
// The content of a row begins with the number of a version and a number that no other row has. A row of kind
// s or o names content, the hash of what it was, and what it becomes: the body of the row, or an object
// if that is longer than [journal.MaxBody], and behind it a number of bytes from the end of what it was. So an
// output that a generator printed again costs a row without a body.
//
// # Promises
//
//   - At the same position of its journal a session has the same blobs and the same of such content on all hosts.
//   - Of two hosts that change the same content at once the first one counts; the other gets
//     ctxabi.ErrConflict and finds what is there.
//   - A blob goes if nothing was committed to its session since who removes it has looked. A look at a blob is
//     told to all hosts once an hour ([blob.UsedEvery]); no blob goes that was used in the last two.
//   - A blob whose content cannot be fetched holds up what comes behind it, and is tried again.
//
// # Files, from top to bottom
//
//	committer.go  the commit side, and handlers
//	kept.go       rows of kind s and o
//	blobs.go      rows of kind b
//	codec.go      numbers and bytes
package rows
