// Package shared is the contract of the store that several hosts share: the entries of a session's
// journal, the chain that joins them, and the interface [Store], which package postgres and the
// database in memory of package sharedtest implement. It knows no disk, no network, and no SQL.
//
//	request of a writer
//	  → package follower builds rows → shared.Seal → Entry{I, Key, Rows, Body}, next Position
//	  → Store.Append: compares next and head of the journal, then stores the entry
//	  → other hosts: Store.Heads, Store.Read, Store.Fence → shared.Open → local copy
//
// # An entry
//
//	Rows     version (1 byte) | chain after the entry (32 bytes) | format | length of host | host
//	         | rows, each after its length: kind (1 byte) | length of its body | content
//	Body     bodies of the rows in their order
//	lengths and format are unsigned varints in their shortest form
//
//	chain(i) = SHA-256(chain(i-1) ‖ SHA-256(rows ‖ bodies) ‖ i ‖ length of rows ‖ format ‖ host)
//
// Numbers in the chain are 8 bytes, big-endian. chain(-1) is SHA-256(journal uuid ‖ "journal").
// A fork continues the numbers and the chain of its base. The content of a row of kind [Message] or
// [Event] is a row of package session/arrival with its newline.
//
// # Promises
//
//   - Open returns the rows that Seal got, or an error. It never panics.
//   - Open fails if any byte of the entry, its number, or an earlier entry differs.
//   - An error of a Store says whether the change may have happened: [ErrUnknown] means yes, every
//     other error means no.
//
// # Files
//
//	entry.go  entries, rows, and the chain
//	store.go  Store, its arguments and errors
package shared
