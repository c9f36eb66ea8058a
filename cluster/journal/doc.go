// Package journal is the form of what stands in a journal of a cluster: entries of rows with their
// bodies, and the chain that holds them together. It is pure: it knows bytes, no engine and no disk.
//
//	at := journal.Start(subject)
//	header, payload, next, err := journal.Seal(at, host, format, rows)
//	entry, next, err := journal.Open(at, fromTheEngine)
//
// # An entry
//
//	payload   rows, each behind its length, then the bodies of the rows in their order
//	row       kind (one byte), length of its body, content
//	lengths   unsigned varints
//
//	Ctx-V     1, the version of all this
//	Ctx-I     number of the entry in its journal: 0, 1, 2, … without gaps
//	Ctx-Chain chain behind the entry, in hexadecimal
//	Ctx-Rows  length of the rows with their lengths, and the format of their contents: "513/4"
//	Ctx-Host  host that made the entry
//
// The content of a row of kind [Message] or [Event] is the row that will stand among the arrivals of the
// log, in the format whose number Ctx-Rows has. Package journal does not look into contents.
//
// # The chain
//
//	chain(i) = SHA-256(chain(i-1) ‖ SHA-256(payload) ‖ i ‖ length of rows ‖ format ‖ host)
//
// with numbers in 8 bytes, big-endian, and chain(-1) = SHA-256(owner ‖ "/" ‖ session ‖ "journal"). So the
// chain value of an entry depends on the owner, the session and every entry up to it. The chain covers
// payloads as they are stored, so that they may be encrypted later.
//
// # Promises
//
//   - Open returns what Seal was given, or an error; it never panics and never returns a part.
//   - Open of an entry in which a bit was changed returns an error.
//   - One entry has one form: Seal of what Open returns makes the same bytes.
//
// # Files, from top to bottom
//
//	entry.go  entries
//	rows.go   payloads
//	chain.go  positions in a journal
package journal
